// SPDX-License-Identifier: Apache-2.0
// The objective busy: the share of time in which the device runs steps.
#pragma once

#include "feedrate/core/error.hpp"
#include "feedrate/tune/objective/objective.hpp"

namespace feedrate::inline v0 {

inline constexpr Objective busy_objective{
    .name = "busy",
    .needs = Needs::step_time,
    .of_round = [](const Round& round, double) { return std::log(round.busy()); },
    .of_prediction =
        [](const Prediction& prediction, double) {
          return predicted_log_rate(prediction) - std::log(prediction.device_samples_per_s);
        },
    .require_score =
        [](const Round& round) {
          if (round.step_s > 0) return;
          throw Error(Fault::trials, "The device was never busy.");
        }};

}  // namespace feedrate::inline v0
