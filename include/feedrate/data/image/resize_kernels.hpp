// SPDX-License-Identifier: Apache-2.0
// The inner loops of resizing and of writing pixels, in portable C++.
#pragma once

#include <cstddef>
#include <cstdint>

#include "feedrate/data/image/resize_weights.hpp"

namespace feedrate::inline v0::detail {

/// Bits of fraction of a pixel between the two passes: 255 << 7 just fits 16 bits.
inline constexpr int half_way_bits = 7;

/// The loops that are worth vector instructions. Every implementation gives the same bits.
struct ResizeKernels {
  const char* name;

  /// Resizes a row of RGBX pixels: out[4j + c] = sum of weights x row, for j < count rounded up to
  /// even. Up to `taps` pixels beyond the last may be read, with weight 0.
  void (*horizontal)(const std::uint8_t* row, const std::int32_t* first,
                     const std::int16_t* weights, int taps, int count, std::int16_t* out);

  /// Mixes `taps` rows (an even number) into one of `count` pixels; count must be a multiple of 8.
  void (*vertical)(const std::int16_t* const* rows, const std::int16_t* weights, int taps,
                   int count, std::uint8_t* rgbx);

  /// planes[c][j] = rgbx[4j + c] * scale[c] + bias[c]
  void (*to_f32_planes)(const std::uint8_t* rgbx, int count, const float* scale, const float* bias,
                        float* const* planes);

  /// planes[c][j] = rgbx[4j + c]
  void (*to_u8_planes)(const std::uint8_t* rgbx, int count, std::uint8_t* const* planes);
};

inline void horizontal_portable(const std::uint8_t* row, const std::int32_t* first,
                                const std::int16_t* weights, int taps, int count,
                                std::int16_t* out) {
  constexpr int shift = weight_bits - half_way_bits;
  for (int j = 0; j < count; ++j, weights += taps, out += 4) {
    std::int32_t sum[4] = {1 << (shift - 1), 1 << (shift - 1), 1 << (shift - 1), 1 << (shift - 1)};
    const std::uint8_t* pixel = row + std::ptrdiff_t{4} * first[j];
    for (int t = 0; t < taps; ++t, pixel += 4) {
      for (int c = 0; c < 4; ++c) sum[c] += weights[t] * pixel[c];
    }
    for (int c = 0; c < 4; ++c) out[c] = static_cast<std::int16_t>(sum[c] >> shift);
  }
}

inline void vertical_portable(const std::int16_t* const* rows, const std::int16_t* weights,
                              int taps, int count, std::uint8_t* rgbx) {
  constexpr int shift = weight_bits + half_way_bits;
  for (int e = 0; e < 4 * count; ++e) {
    std::int32_t sum = 1 << (shift - 1);
    for (int t = 0; t < taps; ++t) sum += weights[t] * rows[t][e];
    rgbx[e] = static_cast<std::uint8_t>(sum >> shift);
  }
}

inline void to_f32_planes_portable(const std::uint8_t* rgbx, int count, const float* scale,
                                   const float* bias, float* const* planes) {
  for (int c = 0; c < 3; ++c) {
    for (int j = 0; j < count; ++j) {
      const float product = static_cast<float>(rgbx[4 * j + c]) * scale[c];
      planes[c][j] = product + bias[c];
    }
  }
}

inline void to_u8_planes_portable(const std::uint8_t* rgbx, int count,
                                  std::uint8_t* const* planes) {
  for (int c = 0; c < 3; ++c) {
    for (int j = 0; j < count; ++j) planes[c][j] = rgbx[4 * j + c];
  }
}

inline constexpr ResizeKernels portable_kernels = {"portable", horizontal_portable,
                                                   vertical_portable, to_f32_planes_portable,
                                                   to_u8_planes_portable};

}  // namespace feedrate::inline v0::detail
