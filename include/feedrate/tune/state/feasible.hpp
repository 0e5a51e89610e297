// SPDX-License-Identifier: Apache-2.0
// Feasible: whether the memory allowed leaves any config to try.
#pragma once

#include <algorithm>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/measure/trial.hpp"

namespace feedrate {

/// Throws Error(usage), with what the smallest batch would need, where every trial is infeasible.
inline void require_feasible(const std::vector<Trial>& trials) {
  const auto smallest = std::min_element(
      trials.begin(), trials.end(),
      [](const Trial& a, const Trial& b) { return a.config.batch < b.config.batch; });
  const bool none = std::all_of(trials.begin(), trials.end(), [](const Trial& trial) {
    return trial.status == TrialStatus::infeasible;
  });
  if (!none || smallest == trials.end()) return;
  throw Error(Fault::usage,
              "No config fits into the memory allowed: the one with the smallest "
              "batch " +
                  smallest->reason + "; allow more, or try smaller batches.");
}

}  // namespace feedrate
