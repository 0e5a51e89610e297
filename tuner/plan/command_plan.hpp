// SPDX-License-Identifier: Apache-2.0
// The plan for a user's command: what is tried, and which options do not apply.
#pragma once

#include "command/command_trials.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/tune/state/options.hpp"
#include "request/options.hpp"
#include "script/script_trials.hpp"

namespace feedrate {

inline bool is_command(const SweepOptions& options) {
  return !options.command.empty();
}

/// Whether the command is launched again for each config: it is told its values by its arguments or
/// its environment. Else it is a script whose DataLoader is switched while it runs.
bool is_launched_anew(const SweepOptions& options);

/// What can be refused before the command is launched. Throws Error(usage).
void check_command(const SweepOptions& options, const Limits& limits);

/// Refuses what only a command behind -- can be asked. Throws Error(usage).
void refuse_without_command(const SweepOptions& options);

/// How the command is launched: with trackers switched off, unless they shall be kept.
LaunchSpec launch_of(const SweepOptions& options);

/// The search over a script's own DataLoader. Throws Error(usage) on invalid values.
TuneOptions plan_script(const SweepOptions& options, const Limits& limits, const Prepared& found);

/// The search over the values that a command is told. Its reference has the first of each.
TuneOptions plan_launches(const SweepOptions& options, const Limits& limits);

}  // namespace feedrate
