// SPDX-License-Identifier: Apache-2.0
// A trial child: prepares the workload and runs the rounds that its parent requests.
#pragma once

#include <string>
#include <vector>

namespace feedrate {

/// Whether the words, from the first on, are a trial child's. They are no part of the command line
/// that users know.
bool is_trial_child(const std::vector<std::string>& words);

/// The whole life of a child that autotune has started. Returns its exit code.
int run_trial_child(const std::vector<std::string>& words);

}  // namespace feedrate
