// SPDX-License-Identifier: Apache-2.0
// The objectives by name. A new one is a file and a line here.
#pragma once

#include <array>
#include <string_view>

#include "feedrate/core/named.hpp"
#include "feedrate/tune/objective/busy.hpp"
#include "feedrate/tune/objective/mfu.hpp"
#include "feedrate/tune/objective/rate.hpp"
#include "feedrate/tune/objective/samples_per_joule.hpp"

namespace feedrate::inline v0 {

/// Remembered choices keep the place of an objective: new ones come last.
inline constexpr std::array objectives = {utilization_objective, throughput_objective,
                                          busy_objective, mfu_objective,
                                          samples_per_joule_objective};

/// Throws Error(usage) where there is none of that name.
inline const Objective& objective_named(std::string_view name) {
  return entry_named(objectives, name, "objective");
}

}  // namespace feedrate::inline v0
