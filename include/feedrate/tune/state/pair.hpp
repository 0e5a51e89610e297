// SPDX-License-Identifier: Apache-2.0
// The scores of rounds, and the comparison of two configs by pairs of them. Plain data.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

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

/// Whether other processes left two rounds the same share of the machine, to a tenth of it, or took
/// `usually` more in a's. Does not see the rates.
inline bool are_comparable(const Score& a, const Score& b, double usually = 0) noexcept {
  constexpr double largest_difference = 0.1;
  const bool known = a.others_share >= 0 && b.others_share >= 0;
  return !known || std::abs(a.others_share - b.others_share - usually) <= largest_difference;
}

/// By how much more other processes usually take in the rounds of `a` than in those of `b`: beside
/// a steady neighbour the config with fewer threads leaves it more. 0 where fewer than four pairs
/// of rounds are known, or a quarter of them says something else: that is a neighbour who comes and
/// goes.
inline double usual_difference(std::span<const Score> a, std::span<const Score> b) {
  constexpr std::size_t least_pairs = 4;
  std::vector<double> differences;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].others_share >= 0 && b[i].others_share >= 0)
      differences.push_back(a[i].others_share - b[i].others_share);
  }
  if (differences.size() < least_pairs) return 0;
  const double middle = median(differences);
  std::size_t alike = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    alike += are_comparable(a[i], b[i], middle);
  return 4 * alike > 3 * std::min(a.size(), b.size()) ? middle : 0;
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
