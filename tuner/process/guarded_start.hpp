// SPDX-License-Identifier: Apache-2.0
// How a guard starts its command, so that the command ends with it.
#pragma once

#include <unistd.h>

#include <string>

#include "process/channel.hpp"
#include "process/folder_copy.hpp"
#include "process/launch.hpp"

namespace feedrate {

/// Throws Error(internal): the command can't be guarded.
[[noreturn]] void throw_unguarded(const std::string& what, int error);

/// A pipe that no command inherits.
struct PipeEnds {
  int from = -1, to = -1;

  /// Throws as throw_unguarded.
  explicit PipeEnds(int flags);
  PipeEnds(const PipeEnds&) = delete;
  PipeEnds& operator=(const PipeEnds&) = delete;
  ~PipeEnds() {
    close_end(from);
    close_end(to);
  }
  static void close_end(int& end) noexcept {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

/// The command in the copy: what leads to its folder leads there, but where programs are found
/// stays. The hook is told what it is a copy of.
LaunchSpec moved(LaunchSpec spec, const FolderCopy& copy);

/// Starts the command and tells the channel so. Returns the new process; 0 where there is none,
/// which the channel was told, too. Throws as throw_unguarded.
pid_t start_guarded(const LaunchSpec& spec, Channel& channel);

}  // namespace feedrate
