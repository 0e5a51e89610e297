// SPDX-License-Identifier: Apache-2.0
// The objective mfu: model FLOP/s over what the machine's own matrix products reach.
#pragma once

#include "feedrate/tune/objective/objective.hpp"

namespace feedrate::inline v0 {

inline constexpr Objective mfu_objective{
    .name = "mfu",
    .needs = Needs::peak,
    .of_round = [](const Round& round, double log_peak) { return log_rate(round) - log_peak; },
    .of_prediction = [](const Prediction& prediction,
                        double log_peak) { return predicted_log_rate(prediction) - log_peak; }};

}  // namespace feedrate::inline v0
