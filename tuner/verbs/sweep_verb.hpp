// SPDX-License-Identifier: Apache-2.0
// The verb without a name: tune, report, recommend.
#pragma once

#include "request/options.hpp"

namespace feedrate {

/// Runs the sweep and writes its report. Returns the exit code: 0, or 130 when interrupted.
/// Throws Error as everything beneath does.
int run_sweep(const SweepOptions& options);

/// Prints the built-in workloads.
int run_workloads();

}  // namespace feedrate
