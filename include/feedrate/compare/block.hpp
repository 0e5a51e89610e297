// SPDX-License-Identifier: Apache-2.0
// Blocks: four runs in an order that cancels drift, and the one observation that they give.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
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

/// The blocks that count: all but the disturbed ones. Once those are more than half of at least
/// six, or of all at the end, every block counts. Sides take turns at random, so a neighbour then
/// adds scatter, and favours neither.
template <class Block>
class BlockSelection {
 public:
  /// Adds a block; returns those that count from now on.
  std::vector<Block> add(const std::array<Side, 4>& order, const std::array<double, 4>& shares,
                         Block block) {
    if (!filter_.accepts(order, shares) && !all_count_) {
      set_aside_.push_back(std::move(block));
      return seen() < 6 ? std::vector<Block>() : end();
    }
    ++kept_;
    std::vector<Block> one;
    one.push_back(std::move(block));
    return one;
  }

  /// Where most blocks were disturbed: those set aside, which count, too.
  std::vector<Block> end() {
    if (set_aside_.size() <= kept_) return {};
    all_count_ = true;
    kept_ = seen();
    return std::exchange(set_aside_, {});
  }

  /// Blocks that are left out.
  int disturbed() const noexcept { return static_cast<int>(set_aside_.size()); }
  /// Most blocks were disturbed, and so all count.
  bool all_count() const noexcept { return all_count_; }

 private:
  std::size_t seen() const noexcept { return kept_ + set_aside_.size(); }

  DisturbanceFilter filter_;
  std::vector<Block> set_aside_;
  std::size_t kept_ = 0;
  bool all_count_ = false;
};

}  // namespace feedrate::inline v0
