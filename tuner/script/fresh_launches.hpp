// SPDX-License-Identifier: Apache-2.0
// Fresh launches of a script, each with fixed settings of its loader and step.
#pragma once

#include <atomic>

#include "command/command_trials.hpp"
#include "process/launch.hpp"
#include "script/confirm.hpp"

namespace feedrate {

/// How a fresh launch is measured.
struct FreshLaunchOptions {
  double seconds = 3;     ///< after its start
  double timeout_s = 60;  ///< a launch that reports nothing for so long has failed
  const std::atomic<bool>* abort = nullptr;  ///< ends a launch at once
};

/// Launches a script with one config after another. The script's own config changes nothing.
class FreshLaunches {
 public:
  FreshLaunches(LaunchSpec spec, const Script& script, const FreshLaunchOptions& options);

  /// One launch. Throws TrialError where it fails, and Error(interrupted) on abort.
  FreshRound run(const Config& config);

 private:
  FreshLaunchOptions options_;
  CommandTrials trials_;
};

}  // namespace feedrate
