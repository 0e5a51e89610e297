// SPDX-License-Identifier: Apache-2.0
#include "command/templates.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "feedrate/core/error.hpp"

namespace feedrate {
namespace {

/// The axes with several values.
std::vector<std::string> swept_axes(const Space& space) {
  std::vector<std::string> swept;
  for_each_axis_of_commands([&](const auto& axis) {
    if ((space.*axis.values).size() > 1) swept.emplace_back(axis.name);
  });
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

}  // namespace

void require_taken(const LaunchSpec& spec, const std::vector<AxisTemplate>& templates,
                   const Space& space) {
  const std::vector<std::string_view> taken = axes_taken(spec.command, templates);
  for (const std::string& axis : swept_axes(space)) {
    if (std::find(taken.begin(), taken.end(), axis) != taken.end()) continue;
    throw Error(Fault::usage,
                flag_of(axis) +
                    " has several values, but nothing says how the command takes one: add --set " +
                    axis + "='--flag {}' or --set " + axis + "=env:NAME.");
  }
}

void require_values(const std::vector<std::string>& command,
                    const std::vector<AxisTemplate>& templates, const RequestedAxes& axes) {
  const auto taken = axes_taken(command, templates);
  for_each_axis_of_commands([&](const auto& axis) {
    const bool is_taken = std::find(taken.begin(), taken.end(), axis.name) != taken.end();
    if (!is_taken || axes.has(axis.field)) return;
    const std::string name(axis.name), flag = flag_of(axis.name);
    throw Error(Fault::usage,
                (has_placeholder(command, axis.name)
                     ? placeholder_of(axis.name) + " in the command stands for a value of " + flag
                     : "--set " + name + " says how the command takes a value of " + flag) +
                    ", and there is none: add " + flag + " with the values to try.");
  });
}

LaunchSpec with_values(LaunchSpec spec, const std::vector<AxisTemplate>& templates,
                       const Config& config) {
  const std::vector<std::string> as_written = spec.command;
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
