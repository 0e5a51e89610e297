// SPDX-License-Identifier: Apache-2.0
// The user's command: whether there is one, and how it is launched.
#pragma once

#include "process/launch.hpp"
#include "request/options.hpp"

namespace feedrate {

inline bool is_command(const SweepOptions& options) {
  return !options.command.empty();
}

/// Whether the command is launched anew for each config: it is told its values by its arguments or
/// its environment. Else it is a script whose DataLoader is switched while it runs.
bool is_launched_anew(const SweepOptions& options);

/// How the command is launched: with trackers switched off, unless they shall be kept.
LaunchSpec launch_of(const SweepOptions& options);

}  // namespace feedrate
