// SPDX-License-Identifier: Apache-2.0
// Confirming: the script as it is against the recommended settings, each in fresh processes.
#pragma once

#include <atomic>

#include "feedrate/report/report.hpp"
#include "launch.hpp"

namespace feedrate {

/// How a recommendation is confirmed.
struct ConfirmOptions {
  double seconds = 3;  ///< of each launch, behind its start
  int pairs = 2;  ///< of launches, in turn; of a single one that shows no gain a second is made
  double timeout_s = 60;                     ///< a launch that is still for so long has failed
  const std::atomic<bool>* abort = nullptr;  ///< ends it at once
};

/// Launches the script with `recommended` and as it is, in turn: first the one, then the other,
/// then the other way round, so that a steady drift cancels. A launch that fails is told in
/// `failure`. Throws Error(interrupted) on abort.
Confirmation confirm(const LaunchSpec& spec, const Script& script, const Config& recommended,
                     bool persistent, const ConfirmOptions& options);

}  // namespace feedrate
