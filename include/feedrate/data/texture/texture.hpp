// SPDX-License-Identifier: Apache-2.0
// One picture of coloured noise, whose hue and roughness depend on its class.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/data/scratch.hpp"
#include "feedrate/data/texture/noise.hpp"

namespace feedrate::inline v0::detail {

/// Paints one picture after another; a thread keeps one and uses it again.
class TexturePainter {
 public:
  /// A picture of class `label` among `classes`: YCbCr pixels of 3 bytes, valid until the next
  /// call. The hue goes round the circle with the class, the strength of coarse shapes goes up and
  /// down; both are blurred from picture to picture, so that there is something to learn.
  std::span<const std::uint8_t> paint(int label, int classes, int width, int height,
                                      Random& random) {
    const std::size_t bytes =
        3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    grow(pixels_, bytes);
    const float turn = static_cast<float>(label) / static_cast<float>(classes);
    const float hue = 2 * std::numbers::pi_v<float> * (turn + random.uniform(-0.08f, 0.08f));
    const float coarse = 14 + 8 * std::sin(3 * hue);
    put_luma(luma_.make(width, height, luma_octaves(coarse), random), bytes / 3);
    const int w = (width + 1) / 2, h = (height + 1) / 2;
    const std::vector<float> octaves = {3, 5, 7, 7, 8, 8};
    put_chroma(1, 128 + 26 * std::cos(hue), chroma_.make(w, h, octaves, random), width, height);
    put_chroma(2, 128 + 26 * std::sin(hue), chroma_.make(w, h, octaves, random), width, height);
    return {pixels_.data(), bytes};
  }

 private:
  /// The finest octaves decide the size of the file; they are the same for all classes.
  static std::vector<float> luma_octaves(float coarse) {
    return {42, 40, 36, 2 * coarse, 2 * coarse, 2 * coarse, 30, 30};
  }

  static std::uint8_t level(float value) noexcept {
    return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }

  void put_luma(const float* plane, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) pixels_[3 * i] = level(118 + plane[i]);
  }

  void put_chroma(std::size_t channel, float mean, const float* plane, int width, int height) {
    std::uint8_t* to = pixels_.data() + channel;
    for (int y = 0; y < height; ++y) {
      const float* const row = plane + std::ptrdiff_t{y / 2} * ((width + 1) / 2);
      for (int x = 0; x < width; ++x, to += 3) *to = level(mean + row[x / 2]);
    }
  }

  NoisePlane luma_, chroma_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace feedrate::inline v0::detail
