// SPDX-License-Identifier: Apache-2.0
// The plan for a user's command: what is tried, and which options do not apply.
#pragma once

#include "feedrate/machine/limits.hpp"
#include "feedrate/tune/state/options.hpp"
#include "request/request.hpp"
#include "trials/trial_runner.hpp"

namespace feedrate {

/// Throws Error(usage) on what can be refused before the command is launched.
void check_command_plan(const TuneRequest& request, const Limits& limits);

/// The search over a script's own DataLoader. Throws Error(usage) on invalid values.
TuneOptions plan_script(const TuneRequest& request, const Limits& limits, const Prepared& found);

/// The search over the values that a command is told. Its reference has the first of each.
TuneOptions plan_launches(const TuneRequest& request, const Limits& limits);

}  // namespace feedrate
