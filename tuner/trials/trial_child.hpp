// SPDX-License-Identifier: Apache-2.0
// A trial child: prepares the workload and runs the rounds that its parent requests.
#pragma once

#include "request/options.hpp"

namespace feedrate {

/// The whole life of a child that autotune has started. Returns its exit code.
int run_trial_child(const SweepOptions& options);

}  // namespace feedrate
