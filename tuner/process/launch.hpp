// SPDX-License-Identifier: Apache-2.0
// A user's command: started under a guard, read, and ended completely.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "process/channel.hpp"
#include "process/child_process.hpp"

namespace feedrate {

/// A command of the user's: what is run, where, and what its environment has beside ours.
struct LaunchSpec {
  std::vector<std::string> command = {};  ///< argument vector
  /// Added to ours, or in place of ours.
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::string folder = {};  ///< where it runs; empty: here
  bool in_copy = false;     ///< in a copy of that folder, which is removed behind it
};

/// Finds what a command would run, as execvp does. Throws Error(usage) where it is not found or not
/// executable, or where its folder is none.
void require_executable(const LaunchSpec& spec);

/// A running command with all that it starts. The whole of it ends with this object, and also where
/// this process is killed. For one thread at a time.
class RunningCommand {
 public:
  /// Its standard input is empty, both outputs go to one pipe, and it has a process group of its
  /// own, so that Ctrl-C at a terminal does not reach it. Throws Error(usage) as
  /// require_executable, and where the kernel refuses to run it; Error(internal) where no process
  /// can be started; and what FolderCopy throws.
  explicit RunningCommand(const LaunchSpec& spec);
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;
  ~RunningCommand();

  /// Takes in what it has written, without waiting.
  void listen();
  /// The last lines that it wrote; paths into a copy of its folder lead into the folder.
  std::string last_lines(int lines = 20) const;
  /// What was taken in since the last call; the newest MiB of it.
  std::string take_output() { return std::exchange(fresh_, {}); }

  /// Its status as of waitpid, once it has ended; does not wait. All that it wrote before has then
  /// been taken in; what it left running is being ended. Throws Error(internal) where that can't be
  /// known.
  std::optional<int> ended();

  /// Ends all of it: asks (SIGTERM), and after the patience, in seconds, kills (SIGKILL). Returns
  /// when nothing of it is left; false where something had to be killed.
  bool end(double patience_s);

  /// Seconds that its start took because of a copy of its folder.
  double copying_s() const noexcept { return copying_s_; }

  /// To be polled for what it writes, and for news of its end; -1 where none will come any more.
  int output_fd() const noexcept { return gone_ ? -1 : guard_.output_fd(); }
  int news_fd() const noexcept { return gone_ ? -1 : channel_.fd(); }

 private:
  struct Ends {
    int ours, theirs;
  };
  RunningCommand(const LaunchSpec& spec, Ends ends);
  static Ends channel_ends();

  void wait_until_started(const LaunchSpec& spec);
  void hear();
  void note_end_of_guard();
  void wait_for_news(double timeout_s) const;

  Channel channel_;
  ChildProcess guard_;
  std::string fresh_;            ///< written, and not yet taken
  std::optional<int> status_;    ///< of the command
  bool killed_ = false;          ///< SIGTERM was not enough
  bool is_over_ = false;         ///< nothing of the command is left
  bool gone_ = false;            ///< the guard is, and with it all that it guarded
  std::string copy_, original_;  ///< where it runs, and of what that is a copy; empty: none
  double copying_s_ = 0;
};

}  // namespace feedrate
