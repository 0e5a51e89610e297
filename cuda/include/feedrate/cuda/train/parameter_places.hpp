// SPDX-License-Identifier: Apache-2.0
// The place of each parameter array of a model on a device: aligned for fast products and 16-byte
// accesses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0::cuda {

/// Places of the weights and the bias of one block in the padded flat arrays, in elements.
struct Place {
  std::size_t weights_at = 0, bias_at = 0;
  /// Rows of the weights: the depth, and for a convolution rows of zeros up to a multiple of 16
  /// bytes of columns, whose elements there are zero, too.
  std::size_t depth = 0;
};

/// The places of all blocks. Gaps are zero and stay zero: their gradients are, and no optimizer
/// moves a zero without a gradient.
class ParameterPlaces {
 public:
  static constexpr std::size_t alignment = 64;  ///< elements: 128 bytes and more

  /// `together`: elements of the storage type in 16 bytes.
  ParameterPlaces(const std::vector<Block>& blocks, std::size_t together) : blocks_(blocks) {
    for (const Block& block : blocks) {
      Place& place = places_.emplace_back();
      place.depth = block.plain() ? block.depth() : up(block.depth(), together);
      if (!block.product) continue;
      place.weights_at = take(place.depth * block.raw.channels);
      place.bias_at = take(block.bias());
    }
  }

  const Place& operator[](std::size_t block) const noexcept { return places_[block]; }

  /// Elements of a padded array.
  std::size_t size() const noexcept { return size_; }

  /// Copies parameters as `AnyStep` orders them into a padded array, and back.
  void spread(std::span<const float> flat, std::span<float> padded) const {
    for_arrays([&](std::size_t from, std::size_t to, std::size_t count) {
      std::copy_n(flat.data() + from, count, padded.data() + to);
    });
  }
  void gather(std::span<const float> padded, std::span<float> flat) const {
    for_arrays([&](std::size_t to, std::size_t from, std::size_t count) {
      std::copy_n(padded.data() + from, count, flat.data() + to);
    });
  }

 private:
  static std::size_t up(std::size_t n, std::size_t multiple) noexcept {
    return (n + multiple - 1) / multiple * multiple;
  }

  std::size_t take(std::size_t count) noexcept {
    const std::size_t at = size_;
    size_ += up(count, alignment);
    return at;
  }

  template <class F>
  void for_arrays(const F& f) const {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      f(blocks_[i].weights_at, places_[i].weights_at, blocks_[i].weights());
      f(blocks_[i].bias_at, places_[i].bias_at, blocks_[i].bias());
    }
  }

  std::vector<Block> blocks_;
  std::vector<Place> places_;
  std::size_t size_ = 0;
};

}  // namespace feedrate::inline v0::cuda
