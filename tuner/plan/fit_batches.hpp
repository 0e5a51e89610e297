// SPDX-License-Identifier: Apache-2.0
// The default batches of a device that has memory of its own.
#pragma once

#include "request/options.hpp"
#include "workload/workloads.hpp"

namespace feedrate {

/// On a device with memory of its own the default batches go up to the largest that fits there.
void fit_batches(PreparedWorkload& prepared, const SweepOptions& options,
                 const TrainingDevice& device);

}  // namespace feedrate
