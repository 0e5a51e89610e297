// SPDX-License-Identifier: Apache-2.0
// A comparison of two programs: blocks of runs, until the test has said enough.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "ab/ab_request.hpp"
#include "ab/program.hpp"
#include "feedrate/compare/block.hpp"

namespace feedrate {

/// One run of a block.
struct AbRun {
  int block = 0;
  Side side = Side::base;
  ProgramRun result;
};

/// What a comparison has come to.
struct AbOutcome {
  std::vector<AbRun> runs;         ///< of the blocks that count, in their order
  std::vector<Conclusion> judged;  ///< of each judged metric
  std::vector<Interval> ratios;    ///< head's speed over base's, likewise
  std::vector<double> noise;       ///< standard deviation of one block's log ratio, likewise
  int blocks = 0;                  ///< that count
  int disturbed = 0;               ///< that were left out
  bool all_count = false;          ///< because most were disturbed
  int blocks_missing = 0;          ///< that it would have taken, where the noise is too large
  bool budget_over = false;
};

/// How it goes on.
struct AbWatch {
  std::function<void(const std::string&)> say = [](const std::string&) {};
  const std::atomic<bool>* stop = nullptr;
};

/// Runs both, once each before anything counts. Throws what they throw, and Error(data) where their
/// metrics differ, between them or from run to run.
AbOutcome run_ab(const AbRequest& request, Program& base, Program& head, const AbWatch& watch);

}  // namespace feedrate
