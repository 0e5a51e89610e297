// SPDX-License-Identifier: Apache-2.0
// A run with a user's command: what happens before its search, and after it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "request/request.hpp"
#include "trials/trial_runner.hpp"

namespace feedrate {

/// What a run over a command is made of.
struct CommandRun {
  const TuneRequest& request;
  std::function<Config()> reference;  ///< what is launched first, of a command launched again
  double began_s;                     ///< by the clock of files
  std::vector<std::string> ours;      ///< files that autotune itself writes
  std::function<void(const std::string&)> note;  ///< what it is doing
  std::function<void(double)> waiting;           ///< seconds so far, for a script's loop
  std::function<void(const std::string&)> lost;  ///< an error that does not end the run
  const std::atomic<bool>* stop;
  std::atomic<bool>* abort;
};

/// A command that is told its values needs a launch for each config; a script but one for all.
std::unique_ptr<TrialRunner> make_command_trials(const CommandRun& run,
                                                 std::optional<Prepared> known);

/// The recommended settings as a change of the script, and once more in fresh processes; then what
/// the command has left behind. All of it goes into the report, whose outcome is complete.
void finish_command(const CommandRun& run, std::unique_ptr<TrialRunner> trials, Report& report);

/// Launches the script as its user does, with what is recommended: for its whole training, with
/// trackers, and at the terminal. Returns its exit code.
int train(const TuneRequest& request, const Report& report);

}  // namespace feedrate
