// SPDX-License-Identifier: Apache-2.0
// Templates: how a command takes the values of a config, as arguments or in its environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/core/space.hpp"
#include "process/launch.hpp"

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
std::vector<std::string_view> axes_taken(const LaunchSpec& spec,
                                         const std::vector<AxisTemplate>& templates);

/// Throws Error(usage) where an axis has several values, and the command does not take it.
void require_taken(const LaunchSpec& spec, const std::vector<AxisTemplate>& templates,
                   const Space& space);

/// The launch of a config. A placeholder in an argument becomes the value; where it is the whole
/// argument and the axis has words, it becomes those. The words of axes without a placeholder are
/// appended, in the order of the templates.
LaunchSpec with_values(LaunchSpec spec, const std::vector<AxisTemplate>& templates,
                       const Config& config);

}  // namespace feedrate
