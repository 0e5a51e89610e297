// SPDX-License-Identifier: Apache-2.0
// Feasible: whether any config fits into the allowed memory.
#pragma once

#include <algorithm>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/quantity.hpp"
#include "feedrate/measure/trial.hpp"

namespace feedrate::inline v0 {

/// Throws Error(usage), with what the smallest batch would need, where every trial is infeasible.
inline void require_feasible(const std::vector<Trial>& trials) {
  const auto smallest = std::min_element(
      trials.begin(), trials.end(),
      [](const Trial& a, const Trial& b) { return a.config.batch < b.config.batch; });
  const bool none = std::all_of(trials.begin(), trials.end(), [](const Trial& trial) {
    return trial.status == TrialStatus::infeasible;
  });
  if (!none || smallest == trials.end()) return;
  const TrialReason& reason = smallest->reason;
  throw Error(Fault::usage, "No config fits into the memory allowed: the smallest batch needs " +
                                format_bytes(reason.needed_bytes) +
                                (reason.why == Why::device_memory ? " of device memory" : "") +
                                ", more than the " + format_bytes(reason.allowed_bytes) +
                                " allowed; allow more, or try smaller batches.");
}

}  // namespace feedrate::inline v0
