// SPDX-License-Identifier: Apache-2.0
#include "command/templates.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <type_traits>
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

/// Calls `visit(axis)` for each axis that a command may have: how the built-in step is launched,
/// and where its pixels become floats, is no setting of others.
template <class Visit>
void for_each_axis_of_commands(Visit&& visit) {
  for_each_axis([&](const auto& axis) {
    if (!axis.built_in) visit(axis);
  });
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

std::string placeholder_of(std::string_view axis) {
  return std::string("{").append(axis).append("}");
}

/// Where a placeholder begins; npos where there is none. A shell's "${batch}" is a variable.
std::size_t find_placeholder(std::string_view text, std::string_view placeholder,
                             std::size_t from) {
  std::size_t at = text.find(placeholder, from);
  while (at != text.npos && at > 0 && text[at - 1] == '$') at = text.find(placeholder, at + 1);
  return at;
}

bool has_placeholder(const LaunchSpec& spec, std::string_view axis) {
  const std::string placeholder = placeholder_of(axis);
  return std::any_of(spec.command.begin(), spec.command.end(), [&](const std::string& word) {
    return find_placeholder(word, placeholder, 0) != word.npos;
  });
}

const AxisTemplate* template_of(const std::vector<AxisTemplate>& templates, std::string_view axis) {
  const auto found =
      std::find_if(templates.begin(), templates.end(),
                   [&](const AxisTemplate& candidate) { return candidate.axis == axis; });
  return found == templates.end() ? nullptr : &*found;
}

/// The axes with several values. Batches that differ under one effective batch accumulate
/// differently, too.
std::vector<std::string> swept_axes(const Space& space) {
  std::vector<std::string> swept;
  for_each_axis_of_commands([&](const auto& axis) {
    if (axis.values && (space.*axis.values).size() > 1) swept.emplace_back(axis.name);
  });
  if (space.effective_batch > 0 && space.batch.size() > 1) swept.emplace_back("accumulate");
  return swept;
}

/// Every occurrence of a placeholder; what was put in is not looked at again.
std::string replaced(std::string text, std::string_view from, const std::string& to) {
  for (std::size_t at = find_placeholder(text, from, 0); at != text.npos;
       at = find_placeholder(text, from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::vector<std::string> filled(std::vector<std::string> words, const std::string& value) {
  for (std::string& word : words) word = replaced(std::move(word), "{}", value);
  return words;
}

void set_variable(LaunchSpec& spec, const std::string& name, const std::string& value) {
  std::erase_if(spec.environment, [&](const auto& variable) { return variable.first == name; });
  spec.environment.emplace_back(name, value);
}

void append(std::vector<std::string>& to, std::vector<std::string> words) {
  std::move(words.begin(), words.end(), std::back_inserter(to));
}

/// Puts the value in the place of the axis' placeholder, or words where it stands alone.
void fill_placeholder(std::vector<std::string>& command, std::string_view axis,
                      const AxisTemplate* way, const std::string& value) {
  const std::string placeholder = placeholder_of(axis);
  std::vector<std::string> all;
  for (const std::string& word : command) {
    if (word == placeholder && way && way->variable.empty()) {
      append(all, filled(way->words, value));
    } else {
      all.push_back(replaced(word, placeholder, value));
    }
  }
  command = std::move(all);
}

std::string value_of(const Config& config, std::string_view name) {
  std::string text;
  for_each_axis_of_commands([&](const auto& axis) {
    if (axis.name == name) text = value_text(config.*axis.field);
  });
  return text;
}

/// Why an axis has several values.
std::string reason_of(const std::string& axis) {
  if (axis != "accumulate") return flag_of(axis) + " has several values";
  return "--effective-batch makes 'accumulate' differ from batch to batch";
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

std::vector<std::string_view> axes_taken(const LaunchSpec& spec,
                                         const std::vector<AxisTemplate>& templates) {
  std::vector<std::string_view> taken;
  for_each_axis_of_commands([&](const auto& axis) {
    if (template_of(templates, axis.name) || has_placeholder(spec, axis.name)) {
      taken.push_back(axis.name);
    }
  });
  return taken;
}

void require_taken(const LaunchSpec& spec, const std::vector<AxisTemplate>& templates,
                   const Space& space) {
  const std::vector<std::string_view> taken = axes_taken(spec, templates);
  for (const std::string& axis : swept_axes(space)) {
    if (std::find(taken.begin(), taken.end(), axis) != taken.end()) continue;
    throw Error(Fault::usage, reason_of(axis) +
                                  ", but nothing says how the command takes one: add --set " +
                                  axis + "='--flag {}' or --set " + axis + "=env:NAME.");
  }
}

LaunchSpec with_values(LaunchSpec spec, const std::vector<AxisTemplate>& templates,
                       const Config& config) {
  const LaunchSpec as_written = spec;
  for_each_axis_of_commands([&](const auto& axis) {
    fill_placeholder(spec.command, axis.name, template_of(templates, axis.name),
                     value_text(config.*axis.field));
  });
  for (const AxisTemplate& way : templates) {
    const std::string value = value_of(config, way.axis);
    if (!way.variable.empty()) set_variable(spec, way.variable, value);
    if (!has_placeholder(as_written, way.axis)) append(spec.command, filled(way.words, value));
  }
  return spec;
}

}  // namespace feedrate
