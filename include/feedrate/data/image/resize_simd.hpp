// SPDX-License-Identifier: Apache-2.0
// The inner loops of resizing in AVX2 instructions, and the choice of loops for this CPU.
#pragma once

#include "feedrate/data/image/resize_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#define FEEDRATE_AVX2 __attribute__((target("avx2")))
#endif

namespace feedrate::inline v0::detail {

#if defined(__x86_64__)

/// Two vectors of 128 bits, side by side.
FEEDRATE_AVX2 inline __m256i load_halves(const void* low, const void* high) {
  const __m128i first = _mm_loadu_si128(static_cast<const __m128i*>(low));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first),
                                 _mm_loadu_si128(static_cast<const __m128i*>(high)), 1);
}

/// The next four weights of two neighbouring output pixels, the eight of them in both halves.
FEEDRATE_AVX2 inline __m256i load_weights(const std::int16_t* low, const std::int16_t* high) {
  const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(low));
  const __m128i second = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(high));
  return _mm256_broadcastsi128_si256(_mm_unpacklo_epi64(first, second));
}

/// Each half of a vector makes one output pixel, from four source pixels at a time: two of them are
/// zipped into 16-bit pairs per channel, and multiply-add does the rest.
FEEDRATE_AVX2 inline void horizontal_avx2(const std::uint8_t* row, const std::int32_t* first,
                                          const std::int16_t* weights, int taps, int count,
                                          std::int16_t* out) {
  constexpr int shift = weight_bits - half_way_bits;
  const __m256i zip_01 = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1));
  const __m256i zip_23 = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1));
  const __m256i weights_01 = _mm256_setr_epi32(0x03020100, 0x03020100, 0x03020100, 0x03020100,
                                               0x0b0a0908, 0x0b0a0908, 0x0b0a0908, 0x0b0a0908);
  const __m256i weights_23 = _mm256_add_epi8(weights_01, _mm256_set1_epi8(4));
  for (int j = 0; j < count; j += 2, weights += 2 * taps, out += 8) {
    __m256i sum = _mm256_set1_epi32(1 << (shift - 1));
    const std::uint8_t* const low = row + std::ptrdiff_t{4} * first[j];
    const std::uint8_t* const high = row + std::ptrdiff_t{4} * first[j + 1];
    for (int t = 0; t < taps; t += 4) {
      const __m256i pixels = load_halves(low + 4 * t, high + 4 * t);
      const __m256i factors = load_weights(weights + t, weights + taps + t);
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, zip_01),
                                                    _mm256_shuffle_epi8(factors, weights_01)));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, zip_23),
                                                    _mm256_shuffle_epi8(factors, weights_23)));
    }
    sum = _mm256_srai_epi32(sum, shift);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(sum, sum), 0b1000);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(packed));
  }
}

/// Sixteen 16-bit elements of the mixed rows.
FEEDRATE_AVX2 inline __m256i mix_rows(const std::int16_t* const* rows, const std::int16_t* weights,
                                      int taps, std::ptrdiff_t at) {
  constexpr int shift = weight_bits + half_way_bits;
  __m256i low = _mm256_set1_epi32(1 << (shift - 1)), high = low;
  for (int t = 0; t < taps; t += 2) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[t] + at));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[t + 1] + at));
    const __m256i factors =
        _mm256_set1_epi32(weights[t] | static_cast<std::int32_t>(weights[t + 1]) * 65536);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), factors));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), factors));
  }
  return _mm256_packs_epi32(_mm256_srai_epi32(low, shift), _mm256_srai_epi32(high, shift));
}

FEEDRATE_AVX2 inline void vertical_avx2(const std::int16_t* const* rows,
                                        const std::int16_t* weights, int taps, int count,
                                        std::uint8_t* rgbx) {
  for (std::ptrdiff_t e = 0; e < 4 * std::ptrdiff_t{count}; e += 32) {
    const __m256i first = mix_rows(rows, weights, taps, e);
    const __m256i second = mix_rows(rows, weights, taps, e + 16);
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0b11011000);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(rgbx + e), bytes);
  }
}

/// No fused multiply-add: it would round otherwise than the portable loop.
FEEDRATE_AVX2 inline void to_f32_planes_avx2(const std::uint8_t* rgbx, int count,
                                             const float* scale, const float* bias,
                                             float* const* planes) {
  const __m256i mask = _mm256_set1_epi32(0xff);
  int j = 0;
  for (; j + 8 <= count; j += 8) {
    __m256i pixels = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rgbx + 4 * j));
    for (int c = 0; c < 3; ++c, pixels = _mm256_srli_epi32(pixels, 8)) {
      const __m256 level = _mm256_cvtepi32_ps(_mm256_and_si256(pixels, mask));
      const __m256 product = _mm256_mul_ps(level, _mm256_set1_ps(scale[c]));
      _mm256_storeu_ps(planes[c] + j, _mm256_add_ps(product, _mm256_set1_ps(bias[c])));
    }
  }
  float* const rest[3] = {planes[0] + j, planes[1] + j, planes[2] + j};
  to_f32_planes_portable(rgbx + 4 * j, count - j, scale, bias, rest);
}

/// Gathers the bytes of each channel within 128 bits, then the quarters of each across.
FEEDRATE_AVX2 inline void to_u8_planes_avx2(const std::uint8_t* rgbx, int count,
                                            std::uint8_t* const* planes) {
  const __m256i by_channel = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const __m256i across = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  int j = 0;
  for (; j + 8 <= count; j += 8) {
    const __m256i pixels = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rgbx + 4 * j));
    alignas(32) std::uint64_t channels[4];
    _mm256_store_si256(
        reinterpret_cast<__m256i*>(channels),
        _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(pixels, by_channel), across));
    for (int c = 0; c < 3; ++c) __builtin_memcpy(planes[c] + j, &channels[c], 8);
  }
  std::uint8_t* const rest[3] = {planes[0] + j, planes[1] + j, planes[2] + j};
  to_u8_planes_portable(rgbx + 4 * j, count - j, rest);
}

inline constexpr ResizeKernels avx2_kernels = {"avx2", horizontal_avx2, vertical_avx2,
                                               to_f32_planes_avx2, to_u8_planes_avx2};
#endif

/// The fastest loops that this CPU can run.
inline const ResizeKernels& best_kernels() noexcept {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2");
  if (avx2) return avx2_kernels;
#endif
  return portable_kernels;
}

}  // namespace feedrate::inline v0::detail
