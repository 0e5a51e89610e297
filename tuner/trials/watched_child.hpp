// SPDX-License-Identifier: Apache-2.0
// A trial child and its channel: asked one question at a time, and watched meanwhile.
#pragma once

#include <string>

#include "feedrate/measure/trial_error.hpp"
#include "process/channel.hpp"
#include "process/child_process.hpp"
#include "trials/pulse.hpp"

namespace feedrate {

/// The word that makes autotune a trial child, before its parent's process id.
inline constexpr const char* trial_child_word = "--trial-child";

/// A child that crashed, was killed, ended or hung, in a sentence.
class ChildDied : public TrialError {
 public:
  using TrialError::TrialError;
};

/// A child that gave no sign of life for too long, and was killed.
class ChildHung : public ChildDied {
 public:
  using ChildDied::ChildDied;
};

/// Owns one child. What it throws has ended the child; the object is of no more use then.
class WatchedChild {
 public:
  /// Starts autotune itself as a trial child.
  WatchedChild();
  ~WatchedChild();

  /// Sends a question and returns the answer, whatever it is. Throws ChildDied where it dies
  /// or hangs, Error(interrupted) on stop and abort.
  Json ask(const Json& question, const Watch& watch);

  /// Whether it has ended by itself, such as killed for memory between two questions.
  bool has_ended() { return process_.wait(0).has_value(); }

 private:
  struct Ends {
    int ours, theirs;
  };
  explicit WatchedChild(Ends ends);

  void wait_for_news();
  [[noreturn]] void throw_dead();
  [[noreturn]] void throw_hung(const Watch& watch);
  [[noreturn]] void throw_interrupted(bool gently);
  template <class Death = ChildDied>
  [[noreturn]] void throw_ended(const std::string& sentence);

  Channel channel_;
  ChildProcess process_;
  bool output_open_ = true;
};

}  // namespace feedrate
