// SPDX-License-Identifier: Apache-2.0
// Which blocks of a comparison count, where other processes disturb some of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "feedrate/compare/block.hpp"

namespace feedrate::inline v0 {

/// The blocks that count: all but the disturbed ones. If more than half of at least six blocks are
/// disturbed, or more than half of all at the end, every block counts: the order is random, so a
/// neighbour adds scatter and favours neither side.
template <class Block>
class BlockSelection {
 public:
  /// Adds a block; returns those that count from now on.
  std::vector<Block> add(const std::array<Side, 4>& order, const std::array<double, 4>& shares,
                         Block block) {
    const bool counts = filter_.accepts(order, shares) || all_count_;
    (counts ? ready_ : set_aside_).push_back(std::move(block));
    kept_ += counts ? 1U : 0U;
    if (kept_ + set_aside_.size() >= 6) take_all_where_most_are_disturbed();
    return std::exchange(ready_, {});
  }

  /// Where most blocks were disturbed: those set aside, which count, too.
  std::vector<Block> end() {
    take_all_where_most_are_disturbed();
    return std::exchange(ready_, {});
  }

  /// Blocks that are left out.
  int disturbed() const noexcept { return static_cast<int>(set_aside_.size()); }
  /// Most blocks were disturbed, and so all count.
  bool all_count() const noexcept { return all_count_; }

 private:
  void take_all_where_most_are_disturbed() {
    if (set_aside_.size() <= kept_) return;
    all_count_ = true;
    kept_ += set_aside_.size();
    std::move(set_aside_.begin(), set_aside_.end(), std::back_inserter(ready_));
    set_aside_.clear();
  }

  DisturbanceFilter filter_;
  std::vector<Block> ready_, set_aside_;
  std::size_t kept_ = 0;
  bool all_count_ = false;
};

}  // namespace feedrate::inline v0
