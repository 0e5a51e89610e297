// SPDX-License-Identifier: Apache-2.0
// The plan for a user's command: what is tried, and which options do not apply.
#pragma once

#include "command/command_spec.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/tune/state/options.hpp"
#include "request/options.hpp"
#include "trials/trial_runner.hpp"

namespace feedrate {

/// What can be refused before the command is launched. Throws Error(usage).
void check_command(const SweepOptions& options, const Limits& limits);

/// Refuses what only a command behind -- can be asked. Throws Error(usage).
void refuse_without_command(const SweepOptions& options);

/// The search over a script's own DataLoader. Throws Error(usage) on values that make no sense.
TuneOptions plan_script(const SweepOptions& options, const Limits& limits, const Prepared& found);

/// The search over the values that a command is told. Its reference has the first of each.
TuneOptions plan_launches(const SweepOptions& options, const Limits& limits);

}  // namespace feedrate
