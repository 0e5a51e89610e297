// SPDX-License-Identifier: Apache-2.0
// Blocks: four runs in an order that cancels drift, and the one observation that they give.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

enum class Side : std::uint8_t { base, head };

/// The order of block number `block`: base, head, head, base or its mirror, at random. A linear
/// drift of the machine moves both sides alike.
inline std::array<Side, 4> block_order(std::uint64_t seed, std::uint64_t block) noexcept {
  using enum Side;
  const bool mirrored = Random(seed, 0, block).below(2) == 1;
  return mirrored ? std::array{head, base, base, head} : std::array{base, head, head, base};
}

/// The logarithm of head's rate over base's, from the four rates in the order of the block.
inline double log_ratio_of(const std::array<Side, 4>& order,
                           const std::array<double, 4>& rates) noexcept {
  double sum = 0;
  for (std::size_t run = 0; run < order.size(); ++run) {
    sum += order[run] == Side::head ? std::log(rates[run]) : -std::log(rates[run]);
  }
  return sum / 2;
}

/// Leaves out blocks in which other processes took more from one side than they usually do. Does
/// not see the rates.
///
/// A side that waits leaves more CPU to a busy neighbour, in every block: that is no disturbance,
/// and so the difference is compared with the median of all blocks. Two blocks without any are
/// assumed before the first.
class DisturbanceFilter {
 public:
  /// Whether the block counts. `shares` of the CPUs were taken by others in its four runs; below 0:
  /// unknown.
  bool accepts(const std::array<Side, 4>& order, const std::array<double, 4>& shares) {
    constexpr double largest_deviation = 0.1;
    double difference = 0;
    for (std::size_t run = 0; run < order.size(); ++run) {
      if (shares[run] < 0) return true;
      difference += (order[run] == Side::head ? shares[run] : -shares[run]) / 2;
    }
    differences_.push_back(difference);
    return std::abs(difference - median(differences_)) <= largest_deviation;
  }

 private:
  std::vector<double> differences_ = {0, 0};
};

}  // namespace feedrate::inline v0
