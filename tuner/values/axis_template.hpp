// SPDX-License-Identifier: Apache-2.0
// Templates: how a command takes the values of a config, by its arguments or its environment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/config.hpp"

namespace feedrate {

/// How a command takes the value of one axis: in a variable, or in words where "{}" stands for it.
struct AxisTemplate {
  std::string axis;                ///< its name among those of Config
  std::string variable;            ///< of the environment; empty: the words are used
  std::vector<std::string> words;  ///< arguments of the command

  bool operator==(const AxisTemplate&) const = default;
};

/// What --set says, one text AXIS=TEMPLATE each, where a TEMPLATE is "env:NAME" or words such as
/// "--bs {}", split as a shell would, with its quotes. Throws Error(usage) on what is none of that,
/// and on an axis or a variable that is set twice.
std::vector<AxisTemplate> parse_templates(const std::vector<std::string>& texts);

/// The axes that the command takes: those with a template, and those whose placeholder, such as
/// "{batch}", stands in one of its arguments. In the order of Config.
std::vector<std::string_view> axes_taken(const std::vector<std::string>& command,
                                         const std::vector<AxisTemplate>& templates);

/// Calls `visit(axis)` for each axis that a command may have: how the built-in step is launched,
/// and where its pixels become floats, is no setting of others. Axes without values to try are left
/// out.
template <class Visit>
void for_each_axis_of_commands(Visit&& visit) {
  for_each_axis([&](const auto& axis) {
    if (!axis.is_ours() && axis.values) visit(axis);
  });
}

/// "{batch}".
std::string placeholder_of(std::string_view axis);

/// Where a placeholder begins; npos where there is none. A shell's "${batch}" is a variable.
std::size_t find_placeholder(std::string_view text, std::string_view placeholder, std::size_t from);

/// Whether the axis' placeholder stands in one of the words.
bool has_placeholder(const std::vector<std::string>& words, std::string_view axis);

/// Null where the axis has none.
const AxisTemplate* template_of(const std::vector<AxisTemplate>& templates, std::string_view axis);

}  // namespace feedrate
