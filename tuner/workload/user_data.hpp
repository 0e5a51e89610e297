// SPDX-License-Identifier: Apache-2.0
// Workloads on the data that --data names.
#pragma once

#include "workload/workloads.hpp"

namespace feedrate {

/// Throws Error(data) where they can't be used.
PreparedWorkload on_data(const WorkloadRequest& request);

}  // namespace feedrate
