// SPDX-License-Identifier: Apache-2.0
// A comparison of two programs by one metric: how it is made, and its result. Plain data.
#pragma once

#include <cmath>
#include <cstdint>

#include "feedrate/compare/conclusion.hpp"
#include "feedrate/compare/sequential_test.hpp"
#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

/// How two programs are compared.
struct CompareOptions {
  LossLimits limits = {};  ///< what counts as slower
  double run_s = 0.1;      ///< of one run; there are four in a block
  double budget_s = 60;    ///< no block begins after that
  int most_blocks = 60;    ///< then it is inconclusive
  std::uint64_t seed = 0;  ///< of the order of runs

  /// Those of the sequential test.
  TestOptions test() const noexcept { return {.limits = limits, .most_blocks = most_blocks}; }
};

/// What is concluded, and from what.
struct Comparison {
  Conclusion conclusion = Conclusion::inconclusive;  ///< of head against base
  Interval speed_ratio;   ///< head's rate over base's, 95 %; above 1 is faster
  double base_per_s = 0;  ///< geometric mean of the runs
  double head_per_s = 0;  ///< likewise
  double noise = 0;       ///< standard deviation of the log ratio of one block
  int blocks = 0;         ///< that count
  int disturbed = 0;      ///< blocks left out: other processes took more from one side
  int wanted = 0;         ///< blocks that would have told, where the noise is too large; else 0

  /// Whether head is not slower.
  bool passes() const noexcept { return conclusion == Conclusion::pass; }
};

/// The 95 % interval of the ratio behind a mean of logarithms.
inline Interval ratio_interval(const RobustMean& log_ratio) noexcept {
  return {std::exp(log_ratio.mean), std::exp(log_ratio.low(0.025)),
          std::exp(log_ratio.high(0.025))};
}

}  // namespace feedrate::inline v0
