// SPDX-License-Identifier: Apache-2.0
// The answers of the processes of a script that train together, one for each rank.
#pragma once

#include <vector>

#include "feedrate/measure/round.hpp"
#include "feedrate/report/json/machine_json.hpp"

namespace feedrate {

/// Throws what the first rank that failed has thrown.
void throw_if_failed(const std::vector<Json>& answers);

Round round_of(const Json& answer);

/// The rounds that several processes ran at the same time, as one: they wait for each other in each
/// step, so that the slowest tells how long it took. What each did for itself counts at the rate at
/// which all could go: that of the slowest.
Round together(const std::vector<Json>& answers, bool in_step);

}  // namespace feedrate
