// SPDX-License-Identifier: Apache-2.0
// A launched script with the hook: its training processes answer questions.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/measure/trial_error.hpp"
#include "process/control_socket.hpp"
#include "process/launch.hpp"
#include "trials/last_error.hpp"
#include "trials/pulse.hpp"
#include "trials/watched_child.hpp"

namespace feedrate {

/// How a script is waited for until its training loop runs.
struct Attachment {
  double patience_s = 300;                              ///< so long may pass until then
  double idle_patience_s = 5;                           ///< for an idle rank, behind the first one
  const std::atomic<bool>* stop = nullptr;              ///< ends the wait
  std::function<void(double)> waiting = [](double) {};  ///< called again and again: seconds so far
  std::function<void(const std::string&)> say = [](const std::string&) {};  ///< what the hook notes
};

/// What a script had when it ended without training with a loader that was attached to.
struct NothingToTune {
  Json loaders;  ///< that it iterated over, as the hook describes them; may be empty
  std::string why;
  std::string last_lines;
  bool failed = false;   ///< its exit code says so
  bool reports = false;  ///< a helper in it told its speed
  bool strange = false;  ///< it trains on batches that the hook can't serve
};

/// Throws Error(usage): what to do about that.
[[noreturn]] void throw_nothing_to_tune(const NothingToTune& nothing);

/// One launch of a script. What it throws has ended the script; the object is of no more use then.
class ScriptSession {
 public:
  /// Launches it; the hook in it connects to the control socket.
  ScriptSession(const LaunchSpec& spec, ControlSocket& socket);
  /// The script ends when its channels do; what is left of it is killed.
  ~ScriptSession();

  /// Waits until every process that trains has attached. Throws NothingToTune where none does,
  /// Error(interrupted) on stop.
  void attach(const Attachment& attachment);

  /// What the process of rank 0 said of the script.
  const Json& greeting() const { return ranks_.front().greeting; }
  int world() const noexcept { return static_cast<int>(ranks_.size()); }

  /// Asks all ranks the same, and returns their answers by rank. Throws ChildDied where one dies,
  /// ChildHung where one hangs, ScriptEnded where the script came to its end, Error(interrupted) on
  /// abort, and where one of several has failed what it says.
  std::vector<Json> ask(const Json& question, const Watch& watch);

  /// Seconds that the script evaluated or was between two epochs, in all questions so far.
  double outside_s() const noexcept { return outside_s_; }
  /// Seconds that its start took because of a copy of its folder.
  double copying_s() const noexcept { return launched_.copying_s(); }

 private:
  struct Rank {
    std::unique_ptr<Channel> channel;
    Json greeting;
  };

  void wait_for_news();
  void welcome();
  void sort_in(std::unique_ptr<Channel> channel, Json greeting);
  bool is_complete() const;
  std::string said() const;
  void say_note(const Attachment& attachment);
  bool waits_for_idle_rank(double patience_s) const;
  void require_hook(double waited_s, const Attachment& attachment);
  [[noreturn]] void throw_late(double patience_s);
  [[noreturn]] void throw_nothing(const std::string& why);
  [[noreturn]] void throw_ended();
  [[noreturn]] void throw_hung(const Watch& watch);

  RunningCommand launched_;
  ControlSocket& socket_;
  std::vector<std::unique_ptr<Channel>> callers_;  ///< that have not said who they are
  std::vector<std::unique_ptr<Channel>> helpers_;  ///< feedrate.watch in the script
  std::vector<Rank> ranks_;
  Json others_ = Json::array();   ///< loaders of processes that trained with none
  std::string in_vain_;           ///< a script goes on without the loader that was asked for
  std::string strange_;           ///< or trains on batches that can't be had with other settings
  std::string note_, said_note_;  ///< of the hook, on what the script does before its loop
  std::string idle_;              ///< why a rank may never come to a loop of its own
  double first_rank_s_ = 0;       ///< when the first rank came to its loop
  bool has_caller_ = false;       ///< a process with the hook has called
  double next_look_s_ = 5;        ///< for a hook that was lost, after so long a wait
  std::optional<double> lost_since_s_;
  double outside_s_ = 0;
};

/// A script ended by itself with another exit code than 0, or by a signal.
class ScriptDied : public ChildDied {
 public:
  ScriptDied(const std::string& message, const std::string& stderr_tail, bool by_signal)
      : ChildDied(Fault::trials, message, stderr_tail, tells_of_memory(stderr_tail)),
        by_signal_(by_signal) {}

  bool by_signal() const noexcept { return by_signal_; }

 private:
  bool by_signal_;
};

/// A script came to its own end with exit code 0.
class ScriptEnded : public TrialError {
 public:
  using TrialError::TrialError;
};

}  // namespace feedrate
