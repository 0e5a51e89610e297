// SPDX-License-Identifier: Apache-2.0
// The answers of the processes of a script that train together, one for each rank.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/measure/round.hpp"
#include "feedrate/report/json/machine_json.hpp"

namespace feedrate {

/// What the ranks answer to one question.
class RankAnswers {
 public:
  explicit RankAnswers(std::size_t ranks) : answers_(ranks) {}

  void put(std::size_t rank, Json answer) {
    const bool failed = answer.contains("failed");
    if (failed && failures_++ == 0) {
      failure_ = answer.at("failed");
      failed_s_ = SteadyClock{}.now_s();
    }
    answers_[rank] = std::move(answer);
    ++count_;
  }
  /// One that has failed takes no more steps, and the others may wait in theirs for it.
  bool are_all_that_come() const {
    const bool waits_in_vain =
        failures_ > 0 && SteadyClock{}.now_s() - failed_s_ > failing_patience_s;
    return count_ == answers_.size() || waits_in_vain;
  }
  /// Of one rank, while others have not failed: they are out of step then.
  const Json* lone_failure() const {
    return failures_ > 0 && failures_ < answers_.size() ? &failure_ : nullptr;
  }
  std::vector<Json> take() { return std::move(answers_); }

 private:
  /// For the other ranks, once one has failed: what fails in all of them is told by all.
  static constexpr double failing_patience_s = 3;

  std::vector<Json> answers_;
  std::size_t count_ = 0, failures_ = 0;
  Json failure_;  ///< the first
  double failed_s_ = 0;
};

/// Throws what the first rank that failed has thrown.
void throw_if_failed(const std::vector<Json>& answers);

Round round_of(const Json& answer);

/// The rounds that several processes ran at the same time, as one: they wait for each other in each
/// step, so that the slowest tells how long it took. What each did for itself counts at the rate at
/// which all could go: that of the slowest.
Round together(const std::vector<Json>& answers, bool in_step);

}  // namespace feedrate
