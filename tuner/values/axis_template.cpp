// SPDX-License-Identifier: Apache-2.0
#include "values/axis_template.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "feedrate/core/error.hpp"

namespace feedrate {
namespace {

constexpr std::string_view blanks = " \t\r\n";

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw Error(Fault::usage, "--set '" + std::string(text) + "' makes no sense: " + why + ".");
}

/// Splits a text into words: single quotes keep all as it is, double quotes all but a backslash
/// before a quote or a backslash, and a backslash outside of quotes keeps the next character.
class Words {
 public:
  explicit Words(std::string_view text) : left_(text) {}

  /// The next word; empty where there is none.
  std::optional<std::string> next() {
    left_.remove_prefix(std::min(left_.find_first_not_of(blanks), left_.size()));
    if (left_.empty()) return std::nullopt;
    std::string word;
    while (!left_.empty() && blanks.find(left_.front()) == blanks.npos) take(word);
    return word;
  }
  bool is_torn() const noexcept { return torn_; }  ///< a quote was never closed

 private:
  char pop() {
    const char c = left_.front();
    left_.remove_prefix(1);
    return c;
  }

  void take(std::string& word) {
    const char c = pop();
    if (c == '\'' || c == '"') return take_quoted(word, c);
    if (c != '\\') return word.push_back(c);
    torn_ = left_.empty();
    if (!torn_) word += pop();
  }

  void take_quoted(std::string& word, char quote) {
    while (!left_.empty()) {
      const char c = pop();
      if (c == quote) return;
      const bool escapes = quote == '"' && c == '\\' && !left_.empty() &&
                           (left_.front() == '"' || left_.front() == '\\');
      word += escapes ? pop() : c;
    }
    torn_ = true;
  }

  std::string_view left_;
  bool torn_ = false;
};

std::vector<std::string> split_as_shell(std::string_view text, std::string_view whole) {
  std::vector<std::string> all;
  Words words(text);
  while (auto word = words.next()) all.push_back(std::move(*word));
  if (words.is_torn()) refuse(whole, "a quote in it is never closed");
  return all;
}

std::string names_of_axes() {
  std::string names;
  for_each_axis_of_commands(
      [&](const auto& axis) { names += (names.empty() ? "" : ", ") + std::string(axis.name); });
  return names;
}

bool is_axis(std::string_view name) {
  bool found = false;
  for_each_axis_of_commands([&](const auto& axis) { found = found || axis.name == name; });
  return found;
}

/// A name that is not one of feedrate's own. Source: IEEE Std 1003.1-2017, 8.1 and 3.235.
bool is_variable(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  constexpr std::string_view digits = "0123456789";
  if (name.empty() || digits.find(name.front()) != digits.npos) return false;
  if (name.starts_with("FEEDRATE_")) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return letters.find(c) != letters.npos || digits.find(c) != digits.npos;
  });
}

AxisTemplate parse_template(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) refuse(text, "write AXIS=TEMPLATE, such as batch='--batch-size {}'");
  AxisTemplate parsed{std::string(text.substr(0, equals)), "", {}};
  const std::string_view way = text.substr(equals + 1);
  if (!is_axis(parsed.axis)) refuse(text, "the axes are " + names_of_axes());
  if (way.starts_with("env:")) {
    parsed.variable = way.substr(4);
    if (is_variable(parsed.variable)) return parsed;
    refuse(text, "'" + parsed.variable + "' is no name of a variable that is free to use");
  }
  parsed.words = split_as_shell(way, text);
  const auto holds_value = [](const std::string& word) { return word.find("{}") != word.npos; };
  if (std::any_of(parsed.words.begin(), parsed.words.end(), holds_value)) return parsed;
  refuse(text, "it must say by {} where the value stands, or name a variable as env:NAME");
}

void require_single(const std::vector<AxisTemplate>& templates, const AxisTemplate& added) {
  for (const AxisTemplate& known : templates) {
    if (known.axis == added.axis) {
      throw Error(Fault::usage, "--set says twice how the command takes " + added.axis +
                                    ": leave one of them out.");
    }
    if (added.variable.empty() || known.variable != added.variable) continue;
    throw Error(Fault::usage, "--set puts " + known.axis + " and " + added.axis +
                                  " into the same variable, " + added.variable +
                                  ": name another one for one of them.");
  }
}

}  // namespace

std::vector<AxisTemplate> parse_templates(const std::vector<std::string>& texts) {
  std::vector<AxisTemplate> templates;
  for (const std::string& text : texts) {
    AxisTemplate parsed = parse_template(text);
    require_single(templates, parsed);
    templates.push_back(std::move(parsed));
  }
  return templates;
}

std::vector<std::string_view> axes_taken(const std::vector<std::string>& command,
                                         const std::vector<AxisTemplate>& templates) {
  std::vector<std::string_view> taken;
  for_each_axis_of_commands([&](const auto& axis) {
    if (template_of(templates, axis.name) || has_placeholder(command, axis.name)) {
      taken.push_back(axis.name);
    }
  });
  return taken;
}

std::string placeholder_of(std::string_view axis) {
  return std::string("{").append(axis).append("}");
}

std::size_t find_placeholder(std::string_view text, std::string_view placeholder,
                             std::size_t from) {
  std::size_t at = text.find(placeholder, from);
  while (at != text.npos && at > 0 && text[at - 1] == '$') at = text.find(placeholder, at + 1);
  return at;
}

bool has_placeholder(const std::vector<std::string>& command, std::string_view axis) {
  const std::string placeholder = placeholder_of(axis);
  return std::any_of(command.begin(), command.end(), [&](const std::string& word) {
    return find_placeholder(word, placeholder, 0) != word.npos;
  });
}

const AxisTemplate* template_of(const std::vector<AxisTemplate>& templates, std::string_view axis) {
  const auto found =
      std::find_if(templates.begin(), templates.end(),
                   [&](const AxisTemplate& candidate) { return candidate.axis == axis; });
  return found == templates.end() ? nullptr : &*found;
}

}  // namespace feedrate
