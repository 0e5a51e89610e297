// SPDX-License-Identifier: Apache-2.0
// Shapes of convolutions and poolings, for the tests of their bodies.
#pragma once

#include <cstddef>
#include <vector>

#include "feedrate/train/kernels/pooling.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::test {

/// A block of one output channel.
inline Block convolution(const Image& in, std::size_t kernel, std::size_t stride,
                         std::size_t padding) {
  Block block;
  block.in = in;
  block.raw = {(in.height + 2 * padding - kernel) / stride + 1,
               (in.width + 2 * padding - kernel) / stride + 1, 1};
  block.kernel = kernel;
  block.stride = stride;
  block.padding = padding;
  return block;
}

/// With and without padding, holes and cut edges; channels that are packs, and that are not.
inline std::vector<Block> convolutions() {
  return {convolution({5, 6, 1}, 3, 1, 0), convolution({5, 6, 2}, 3, 1, 1),
          convolution({9, 7, 3}, 7, 4, 3), convolution({4, 4, 32}, 3, 1, 0),
          convolution({1, 1, 4}, 3, 2, 2), convolution({2, 9, 5}, 2, 3, 1),
          convolution({6, 6, 1}, 1, 2, 0), convolution({7, 5, 16}, 3, 2, 1),
          convolution({3, 4, 8}, 3, 3, 2), convolution({8, 3, 2}, 1, 1, 0)};
}

/// A pooling without padding.
inline PoolWindows windows_of(const Image& from, std::size_t kernel, std::size_t stride) {
  const Image to{(from.height - kernel) / stride + 1, (from.width - kernel) / stride + 1,
                 from.channels};
  return {from, to, kernel, stride};
}

}  // namespace feedrate::test
