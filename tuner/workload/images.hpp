// SPDX-License-Identifier: Apache-2.0
// Workloads on JPEG files: a folder of the user's, and the built-in set.
#pragma once

#include <string>

#include "workload/workloads.hpp"

namespace feedrate {

/// A workload on a folder of class folders.
PreparedWorkload on_images(const std::string& name, const std::string& path,
                           const WorkloadRequest& request);

/// The built-in set: made once in the cache folder, gone on with where it was interrupted.
PreparedWorkload make_images(const WorkloadRequest& request);

}  // namespace feedrate
