// SPDX-License-Identifier: Apache-2.0
// A trial child and its channel: asked one question at a time, and watched while it answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "channel.hpp"
#include "child_process.hpp"
#include "feedrate/measure/trial_error.hpp"

namespace feedrate {

/// A child that crashed, was killed, ended or hung, in a sentence.
class ChildDied : public TrialError {
 public:
  using TrialError::TrialError;
};

/// How an answer is waited for.
struct Watch {
  double bound_s = 60;                             ///< so long may pass without a sign of life
  bool preparing = false;                          ///< not yet a trial
  const std::atomic<bool>* stop = nullptr;         ///< asks the child to end
  const std::atomic<bool>* abort = nullptr;        ///< ends it at once
  std::atomic<std::uint64_t>* progress = nullptr;  ///< signs of life that it has given
  /// Messages that are no answer.
  std::function<void(const Json&)> heard = [](const Json&) {};
};

/// Owns one child. What it throws has ended the child; the object is of no more use then.
class WatchedChild {
 public:
  /// `words` are the command line behind the program's own name; the hidden options are added.
  explicit WatchedChild(const std::vector<std::string>& words);
  ~WatchedChild();

  /// Sends a question and returns the answer, whatever it is. Throws ChildDied where it dies
  /// or hangs, Error(interrupted) on stop and abort.
  Json ask(const Json& question, const Watch& watch);

 private:
  struct Ends {
    int ours, theirs;
  };
  explicit WatchedChild(const std::vector<std::string>& words, Ends ends);

  void wait_for_news();
  [[noreturn]] void throw_dead();
  [[noreturn]] void throw_hung(const Watch& watch);
  [[noreturn]] void throw_interrupted(bool gently);
  [[noreturn]] void throw_ended(const std::string& sentence);

  Channel channel_;
  ChildProcess process_;
  bool output_open_ = true;
};

}  // namespace feedrate
