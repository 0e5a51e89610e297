// SPDX-License-Identifier: Apache-2.0
// The largest batch that a step on the GPU can count, whatever its memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0::cuda {

/// Samples of a batch whose rows 31 bits count: each pixel of an activation is a row of a product.
inline std::size_t largest_batch(const std::vector<Block>& blocks) noexcept {
  constexpr std::size_t most_rows = (std::size_t{1} << 31) - 1;
  std::size_t pixels = 1;
  for (const Block& block : blocks) {
    pixels = std::max({pixels, block.in.pixels(), block.raw.pixels()});
  }
  return most_rows / pixels;
}

}  // namespace feedrate::inline v0::cuda
