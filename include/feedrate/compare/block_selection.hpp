// SPDX-License-Identifier: Apache-2.0
// Which blocks of a comparison count, where other processes disturb some of them.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "feedrate/compare/block.hpp"

namespace feedrate::inline v0 {

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
