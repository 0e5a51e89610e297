// SPDX-License-Identifier: Apache-2.0
// A planted loss: what this process has started is stopped for a share of the time.
#pragma once

#include <thread>

namespace feedrate {

/// Slows all descendants of this process, as long as it lives. They are stopped (SIGSTOP) in slices
/// of some milliseconds, such that they run for 1 - `share` of the wall time.
class PlantedLoss {
 public:
  /// `spare_children`: not those that this process has started itself, which are guards.
  PlantedLoss(double share, bool spare_children);

 private:
  std::jthread thread_;
};

}  // namespace feedrate
