// SPDX-License-Identifier: Apache-2.0
// The memory of one thread of a CPU step: activations and gradients of a chunk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "feedrate/train/arena.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0 {

/// What a block keeps from the forward pass for the backward pass.
template <class Storage>
struct Kept {
  Storage* raw = nullptr;  ///< of a block with a product; with the bias where GELU follows
  Storage* out = nullptr;  ///< the same memory as raw where nothing but bias and ReLU follows
};

/// Arrays for `chunk` samples. Gradients live only between two blocks, so two arrays take turns.
template <class Storage>
struct WorkerMemory {
  Storage* input = nullptr;         ///< samples, where their type is not the storage type
  std::vector<Kept<Storage>> kept;  ///< one per block
  float* dy = nullptr;              ///< gradient of what leaves the current block
  float* dx = nullptr;              ///< gradient of what enters it
  Storage* draw = nullptr;          ///< gradient of what leaves its product, as products read it
  float* no_bias = nullptr;         ///< zeros, for blocks without a product
  std::span<float> losses;          ///< one per sample

  void carve(Arena& arena, const std::vector<Block>& blocks, std::size_t chunk) {
    input = arena.take<Storage>(chunk * blocks.front().in.elements()).data();
    carve_kept(arena, blocks, chunk);
    carve_gradients(arena, blocks, chunk);
    losses = arena.take<float>(chunk);
  }

 private:
  void carve_kept(Arena& arena, const std::vector<Block>& blocks, std::size_t chunk) {
    const auto take = [&](const Image& image) {
      return arena.take<Storage>(chunk * image.elements()).data();
    };
    kept.clear();
    for (const Block& block : blocks) {
      Kept<Storage>& made = kept.emplace_back();
      const bool shared = block.product && !block.keeps_raw();
      if (block.product) made.raw = take(block.raw);
      made.out = shared ? made.raw : take(block.out);
    }
  }

  void carve_gradients(Arena& arena, const std::vector<Block>& blocks, std::size_t chunk) {
    std::size_t largest = 0, largest_raw = 0, channels = 0;
    for (const Block& block : blocks) {
      largest = std::max({largest, block.in.elements(), block.out.elements()});
      largest_raw = std::max(largest_raw, block.raw.elements());
      channels = std::max(channels, block.raw.channels);
    }
    dy = arena.take<float>(chunk * largest).data();
    dx = arena.take<float>(chunk * largest).data();
    draw = arena.take<Storage>(chunk * largest_raw).data();
    no_bias = arena.take<float>(channels).data();
  }
};

}  // namespace feedrate::inline v0
