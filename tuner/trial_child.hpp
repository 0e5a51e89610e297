// SPDX-License-Identifier: Apache-2.0
// A trial child: prepares the workload and runs the rounds that its parent asks for.
#pragma once

#include "channel.hpp"
#include "feedrate/measure/measurer.hpp"
#include "options.hpp"

namespace feedrate {

/// Answers questions until the other end is gone. What the measurer throws is an answer, too; while
/// it works, a heartbeat tells how many batches it has finished.
void serve(Measurer& measurer, Channel& channel);

/// The whole life of a child that autotune has started. Returns its exit code.
int run_trial_child(const SweepOptions& options);

}  // namespace feedrate
