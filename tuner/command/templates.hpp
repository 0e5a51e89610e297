// SPDX-License-Identifier: Apache-2.0
// Fills the templates of a command with the values of a config.
#pragma once

#include <string>
#include <vector>

#include "feedrate/core/space.hpp"
#include "process/launch.hpp"
#include "values/axis_template.hpp"
#include "values/requested_axes.hpp"

namespace feedrate {

/// Throws Error(usage) where an axis has several values, and the command does not take it.
void require_taken(const LaunchSpec& spec, const std::vector<AxisTemplate>& templates,
                   const Space& space);

/// Throws Error(usage) where the command takes the value of an axis, and no option gives any.
void require_values(const std::vector<std::string>& command,
                    const std::vector<AxisTemplate>& templates, const RequestedAxes& axes);

/// The launch of a config. A placeholder in an argument becomes the value; where it is the whole
/// argument and the axis has words, it becomes those. The words of axes without a placeholder are
/// appended, in the order of the templates.
LaunchSpec with_values(LaunchSpec spec, const std::vector<AxisTemplate>& templates,
                       const Config& config);

}  // namespace feedrate
