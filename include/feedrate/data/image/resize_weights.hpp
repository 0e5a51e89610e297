// SPDX-License-Identifier: Apache-2.0
// The weights of antialiased bilinear resizing along one axis, in 14-bit fixed point.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "feedrate/data/image/view.hpp"
#include "feedrate/data/scratch.hpp"

namespace feedrate::inline v0::detail {

inline constexpr int weight_bits = 14;

/// For each output pixel the source pixels that it mixes, and how much of each.
///
/// The filter is a triangle as wide as two source pixels or two output pixels, whichever is more;
/// it is cut at the ends of the axis and then sums to exactly 2^14, so that flat colour stays flat.
/// Source: Pillow, Resample.c, precompute_coeffs; torchvision's antialias=True is the same.
class ResizeWeights {
 public:
  /// Computes the weights of `axis`; output runs backwards if `mirror`.
  void make(const ViewAxis& axis, bool mirror) {
    const double reach = axis.scale > 1 ? axis.scale : 1;
    taps_ = (static_cast<int>(std::ceil(2 * reach)) + 4) & ~3;
    count_ = axis.count;
    const std::size_t padded = static_cast<std::size_t>(count_ + 1);
    grow(first_, padded)[count_] = 0;
    grow(weights_, padded * static_cast<std::size_t>(taps_));
    exact_.assign(static_cast<std::size_t>(taps_), 0);
    begin_ = axis.high;
    end_ = axis.low;
    int longest = 0;
    for (int j = 0; j < count_; ++j) {
      const int length = make_one(axis, reach, j, mirror ? count_ - 1 - j : j);
      if (length > longest) longest = length;
    }
    compact((longest + 3) & ~3);
  }

  int begin() const noexcept { return begin_; }  ///< first source pixel that is used
  int end() const noexcept { return end_; }      ///< one past the last
  int count() const noexcept { return count_; }
  int taps() const noexcept { return taps_; }  ///< weights per output pixel, a multiple of 4

  /// First source pixel of output pixel j, counted from begin().
  const std::int32_t* first() const noexcept { return first_.data(); }
  /// `taps()` weights per output pixel; those not needed are 0. One more pixel of padding follows.
  const std::int16_t* weights() const noexcept { return weights_.data(); }

 private:
  int make_one(const ViewAxis& axis, double reach, int j, int place) {
    const double centre = axis.start + (j + 0.5) * axis.scale;
    int from = static_cast<int>(centre - reach + 0.5);
    int to = static_cast<int>(centre + reach + 0.5);
    if (centre - reach + 0.5 < axis.low) from = axis.low;
    if (to > axis.high) to = axis.high;
    const double sum = evaluate(from, to, centre, 1 / reach);
    quantize(place, to - from, sum);
    first_[static_cast<std::size_t>(place)] = from;
    if (from < begin_) begin_ = from;
    if (to > end_) end_ = to;
    return to - from;
  }

  double evaluate(int from, int to, double centre, double inverse_reach) {
    double sum = 0;
    for (int i = from; i < to; ++i) {
      const double weight = 1 - std::abs((i - centre + 0.5) * inverse_reach);
      exact_[static_cast<std::size_t>(i - from)] = weight > 0 ? weight : 0;
      sum += exact_[static_cast<std::size_t>(i - from)];
    }
    return sum;
  }

  /// Rounds the running sum, not each weight, so that errors do not add up.
  void quantize(int place, int length, double sum) {
    std::int16_t* const to = weights_.data() + static_cast<std::ptrdiff_t>(place) * taps_;
    const double unit = (1 << weight_bits) / sum;
    double running = 0.5;
    int before = 0;
    for (int t = 0; t < taps_; ++t) {
      if (t < length) running += exact_[static_cast<std::size_t>(t)] * unit;
      const int rounded = static_cast<int>(t + 1 < length ? running : (1 << weight_bits) + 0.5);
      to[t] = static_cast<std::int16_t>(rounded - before);
      before = rounded;
    }
  }

  /// Closes up to `taps` weights per pixel, counts from begin(), and pads.
  void compact(int taps) {
    const auto pixels = static_cast<std::size_t>(count_), wanted = static_cast<std::size_t>(taps),
               before = static_cast<std::size_t>(taps_);
    for (std::size_t j = 0; j < pixels; ++j) {
      first_[j] -= begin_;
      for (std::size_t t = 0; t < wanted; ++t) weights_[j * wanted + t] = weights_[j * before + t];
    }
    taps_ = taps;
    for (std::size_t t = 0; t < wanted; ++t) weights_[pixels * wanted + t] = 0;
  }

  std::vector<std::int32_t> first_;
  std::vector<std::int16_t> weights_;
  std::vector<double> exact_;
  int begin_ = 0, end_ = 0, count_ = 0, taps_ = 0;
};

}  // namespace feedrate::inline v0::detail
