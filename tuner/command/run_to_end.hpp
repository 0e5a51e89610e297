// SPDX-License-Identifier: Apache-2.0
// A command that runs as its user would run it: at the terminal, to its own end.
#pragma once

#include "process/launch.hpp"

namespace feedrate {

/// Runs a command with the standard streams of this process, and waits for its end, as a shell
/// does: Ctrl-C goes to it alone, and so does a SIGTERM that this process gets. Returns its exit
/// code, 128 and the number of the signal that ended it. It ends where this process is killed.
/// Throws Error(internal) where it can't be started.
int run_to_end(const LaunchSpec& spec);

}  // namespace feedrate
