// SPDX-License-Identifier: Apache-2.0
// The guard: a process between autotune and a user's command. It ends everything that the command
// started, however autotune ends.
#pragma once

#include <string>
#include <vector>

#include "process/launch.hpp"

namespace feedrate {

/// Seconds between asking a command to end and killing it, where nobody has said.
inline constexpr double usual_patience_s = 2;
/// Seconds for which a guard goes on killing what does not die.
inline constexpr double longest_killing_s = 10;

/// The words behind autotune's own name that make it the guard of this command.
std::vector<std::string> guard_words(const LaunchSpec& spec);

/// Whether those words, from the first on, are a guard's. They are no part of the command line that
/// users know.
bool is_guard(const std::vector<std::string>& words);

/// Starts the command and guards it until nothing of it is left; returns the exit code. It speaks
/// over child_channel_fd. Where the command is to run in a copy of its folder (LaunchSpec::in_copy)
/// it first says {"copy": PATH, "original": PATH}. It says {"started": PID}, or
/// {"unstarted": ERRNO, "at": WHAT}, or {"refused": SENTENCE, "usage": BOOL}; then {"ended":
/// STATUS} once the command itself has ended; then {"over": WHETHER IT HAD TO KILL}, after which it
/// removes the copy. It is told {"end": PATIENCE_S}; that the channel is closed means the same.
/// What the command leaves running when it ends by itself is ended, too.
int run_guard(const std::vector<std::string>& words);

}  // namespace feedrate
