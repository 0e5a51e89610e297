// SPDX-License-Identifier: Apache-2.0
// Confirming: the script as it is against the recommended settings, each in fresh processes.
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "feedrate/measure/statistics.hpp"
#include "feedrate/report/report.hpp"
#include "launch.hpp"

namespace feedrate {

/// How a recommendation is confirmed.
struct ConfirmOptions {
  double seconds = 3;     ///< of each launch, behind its start
  int pairs = 2;          ///< of launches, in turn; at least, see `needs_another`
  double timeout_s = 60;  ///< a launch that is still for so long has failed
  const std::atomic<bool>* abort = nullptr;  ///< ends it at once
};

/// Whether one more pair of launches is to be made: one alone denies no gain, and of two that
/// disagree, and show no gain together, a third decides. `ratios` are the gains so far, at least
/// one.
inline bool needs_another(const std::vector<double>& ratios) {
  if (ratios.size() > 2 || geometric_interval(ratios, 0.05).estimate > 1) return false;
  const bool one_gains = std::any_of(ratios.begin(), ratios.end(), [](double r) { return r > 1; });
  return ratios.size() == 1 || one_gains;
}

/// Launches the script with `recommended` and as it is, in turn: first the one, then the other,
/// then the other way round, so that a steady drift cancels. Where `recommended` is what it is, it
/// is launched once. A launch that fails is told in `failure`. Throws Error(interrupted) on abort.
Confirmation confirm(const LaunchSpec& spec, const Script& script, const Config& recommended,
                     bool persistent, const ConfirmOptions& options);

}  // namespace feedrate
