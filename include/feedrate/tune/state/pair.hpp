// SPDX-License-Identifier: Apache-2.0
// The scores of rounds, and the comparison of two configs by pairs of them. Plain data.
#pragma once

#include <cmath>
#include <cstddef>

#include "feedrate/measure/statistics.hpp"
#include "feedrate/measure/verdict.hpp"

namespace feedrate::inline v0 {

/// What one round says: the objective decides, and the rate is what a speed-up is made of. Both
/// are logarithms, and the same where the objective is a rate.
struct Score {
  double objective = 0;
  double rate = 0;
  int block = 0;             ///< of the round
  double others_share = -1;  ///< of the CPUs that other processes took; < 0: unknown
};

/// Whether other processes left two rounds the same share of the machine, to a tenth of it. Does
/// not see the rates.
inline bool are_comparable(const Score& a, const Score& b) noexcept {
  constexpr double largest_difference = 0.1;
  const bool known = a.others_share >= 0 && b.others_share >= 0;
  return !known || std::abs(a.others_share - b.others_share) <= largest_difference;
}

/// What is known of one pair at the end of a race.
struct Pair {
  std::size_t a = 0;   ///< trial
  std::size_t b = 0;   ///< trial
  Interval log_ratio;  ///< of the objective of a over that of b, 95 %
  Verdict verdict = Verdict::unresolved;
  int rounds = 0;  ///< pairs of rounds behind it
};

}  // namespace feedrate::inline v0
