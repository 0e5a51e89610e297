// SPDX-License-Identifier: Apache-2.0
// A child process: started, read, and always ended.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "feedrate/data/file.hpp"
#include "process/empty_input.hpp"

namespace feedrate {

/// The descriptor under which a child finds its end of the channel.
inline constexpr int child_channel_fd = 3;

/// A running program; killed and reaped on destruction.
class ChildProcess {
 public:
  /// Starts `program` with `words` as its argument vector. Its standard input is an EmptyInput,
  /// both outputs go to a pipe, and `channel_fd` becomes its child_channel_fd. Of other descriptors
  /// it gets those alone that this program has itself inherited without close-on-exec. Throws
  /// Error(internal) where it can't be started.
  ChildProcess(const std::string& program, const std::vector<std::string>& words, int channel_fd);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  /// Takes in what it has written, without waiting, and returns it: about a MiB at most, so that a
  /// child that writes without end holds nobody up.
  std::string listen();
  /// The last lines that it wrote.
  std::string last_lines(int lines = 20) const;

  void signal(int number) noexcept;
  /// Waits for its end, at most so long; its status as of waitpid, empty where it still runs.
  std::optional<int> wait(double timeout_s);

  int output_fd() const noexcept { return output_.fd(); }

 private:
  struct Started {
    pid_t pid;
    int output_fd;
  };
  static Started start(const std::string& program, const std::vector<std::string>& words,
                       int input_fd, int channel_fd);

  EmptyInput input_;
  Started started_;
  detail::Descriptor output_{started_.output_fd};
  std::string written_;        ///< the last part of it
  std::optional<int> status_;  ///< once it was reaped
};

/// "crashed (SIGSEGV, invalid memory access)": what a status of waitpid says.
std::string describe_end(int status);

}  // namespace feedrate
