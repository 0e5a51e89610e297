// SPDX-License-Identifier: Apache-2.0
// The files that a command created or changed in its folder.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace feedrate {

/// The regular files below `folder` that were made or written since `since_s` (seconds of the
/// system's clock since 1970), by their paths in it, checkpoints first, both
/// sorted; those named in `ours` are left out.
/// Looks at 200,000 entries at most, does not follow links, and passes over what it may not read.
std::vector<std::string> touched_files(const std::string& folder, double since_s,
                                       const std::vector<std::string>& ours);

/// Seconds of the system's clock, as files are stamped.
double file_clock_s();

}  // namespace feedrate
