// SPDX-License-Identifier: Apache-2.0
// The built-in workloads whose samples are made in memory.
#pragma once

#include "workload/workloads.hpp"

namespace feedrate {

PreparedWorkload make_tabular(const WorkloadRequest& request);
PreparedWorkload make_wide_linear(const WorkloadRequest& request);
PreparedWorkload make_small_images(const WorkloadRequest& request);
PreparedWorkload make_in_memory(const WorkloadRequest& request);

}  // namespace feedrate
