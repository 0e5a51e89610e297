// SPDX-License-Identifier: Apache-2.0
// CMYK pixels to RGB, the way Pillow does it.
#pragma once

#include <cstdint>

namespace feedrate::inline v0::detail {

/// a * b / 255, rounded, for a and b in 0..255.
constexpr int scale_255(int a, int b) noexcept {
  const int product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

/// Converts `count` pixels of 4 bytes in place; the fourth becomes meaningless. JPEG files store
/// 255 - ink, as Adobe's programs do; like Pillow, we assume so even where no marker says it.
/// Source: Pillow, Convert.c, cmyk2rgb, and JpegImagePlugin.py, "assume adobe conventions".
inline void cmyk_to_rgbx(std::uint8_t* pixels, int count) noexcept {
  for (std::uint8_t* pixel = pixels; count-- > 0; pixel += 4) {
    const int light = pixel[3];
    for (int c = 0; c < 3; ++c) {
      pixel[c] = static_cast<std::uint8_t>(light - scale_255(255 - pixel[c], light));
    }
  }
}

}  // namespace feedrate::inline v0::detail
