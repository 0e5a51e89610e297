// SPDX-License-Identifier: Apache-2.0
// The objectives that are the rate: utilization, which divides it by one number, and throughput.
#pragma once

#include "feedrate/tune/objective/objective.hpp"

namespace feedrate::inline v0 {

inline constexpr Objective utilization_objective{
    .name = "utilization", .of_round = log_rate, .of_prediction = predicted_log_rate};

inline constexpr Objective throughput_objective{
    .name = "throughput", .of_round = log_rate, .of_prediction = predicted_log_rate};

}  // namespace feedrate::inline v0
