// SPDX-License-Identifier: Apache-2.0
// Noise with the spectrum of photographs: detail at every size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/data/scratch.hpp"

namespace feedrate::inline v0::detail {

/// A plane of noise made of octaves: a coarse grid is doubled again and again, and each time fresh
/// noise is added. Equal amplitudes give the 1/f spectrum of natural pictures.
class NoisePlane {
 public:
  /// `amplitudes[k]` is the largest deviation of the octave whose grid is 2^k pixels wide.
  const float* make(int width, int height, const std::vector<float>& amplitudes, Random& random) {
    int octave = static_cast<int>(amplitudes.size()) - 1;
    start(coarse(width, octave), coarse(height, octave));
    for (; octave >= 0; --octave) {
      if (octave + 1 < static_cast<int>(amplitudes.size())) {
        enlarge(coarse(width, octave), coarse(height, octave));
      }
      add_noise(amplitudes[static_cast<std::size_t>(octave)] / 128, random);
    }
    return plane_.data();
  }

 private:
  static int coarse(int length, int octave) noexcept {
    for (; octave > 0; --octave) length = (length + 1) / 2;
    return length;
  }

  std::size_t elements() const noexcept {
    return static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  }

  void start(int width, int height) {
    width_ = width;
    height_ = height;
    plane_.assign(elements(), 0);
  }

  void add_noise(float unit, Random& random) {
    float* const plane = plane_.data();
    for (std::size_t at = 0; at < elements(); at += 4) {
      std::uint32_t bits = random.next();
      const std::size_t some = elements() - at < 4 ? elements() - at : 4;
      for (std::size_t k = 0; k < some; ++k, bits >>= 8) {
        plane[at + k] += unit * static_cast<float>(static_cast<int>(bits & 0xff) - 128);
      }
    }
  }

  /// Doubles both sides: each new pixel is 3/4 its nearest old one and 1/4 the next, per axis.
  void enlarge(int width, int height) {
    grow(wide_, static_cast<std::size_t>(width) * static_cast<std::size_t>(height_));
    for (int y = 0; y < height_; ++y) {
      stretch(plane_.data() + std::ptrdiff_t{y} * width_, width_,
              wide_.data() + std::ptrdiff_t{y} * width, width);
    }
    grow(plane_, static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (int y = 0; y < height; ++y) mix_rows_of(y, width);
    width_ = width;
    height_ = height;
  }

  static void stretch(const float* from, int old_width, float* to, int width) {
    for (int x = 0; x < width; ++x) {
      to[x] = 0.75f * from[x / 2] + 0.25f * from[neighbour(x, old_width)];
    }
  }

  void mix_rows_of(int y, int width) {
    const float* const near = wide_.data() + std::ptrdiff_t{y / 2} * width;
    const float* const next = wide_.data() + std::ptrdiff_t{neighbour(y, height_)} * width;
    float* const to = plane_.data() + std::ptrdiff_t{y} * width;
    for (int x = 0; x < width; ++x) to[x] = 0.75f * near[x] + 0.25f * next[x];
  }

  static int neighbour(int at, int length) noexcept {
    const int next = at / 2 + (at % 2 == 0 ? -1 : 1);
    return next < 0 ? 0 : next < length ? next : length - 1;
  }

  std::vector<float> plane_, wide_;
  int width_ = 0, height_ = 0;
};

}  // namespace feedrate::inline v0::detail
