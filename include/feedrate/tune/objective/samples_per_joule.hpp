// SPDX-License-Identifier: Apache-2.0
// The objective samples_per_joule: what the energy buys.
#pragma once

#include "feedrate/core/error.hpp"
#include "feedrate/tune/objective/objective.hpp"

namespace feedrate::inline v0 {

inline constexpr Objective samples_per_joule_objective{
    .name = "samples_per_joule",
    .needs = Needs::energy,
    .of_round =
        [](const Round& round, double) {
          return log_rate(round) + std::log(round.duration_s / round.energy_j);
        },
    .of_prediction = predicted_log_rate,
    .require_score =
        [](const Round& round) {
          if (round.energy_j > 0) return;
          throw Error(Fault::trials, "No energy was metered.");
        },
    .is_predicted = false};

}  // namespace feedrate::inline v0
