// SPDX-License-Identifier: Apache-2.0
// bfloat16 and IEEE half as 16-bit storage types. Arithmetic is in float.
#pragma once

#include <bit>
#include <cstdint>

#include "feedrate/core/host_device.hpp"

namespace feedrate::inline v0 {
namespace detail {

FEEDRATE_HD inline std::uint32_t bits_of(float value) noexcept {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  return std::bit_cast<std::uint32_t>(value);
#endif
}

FEEDRATE_HD inline float float_of(std::uint32_t bits) noexcept {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

/// A float's bits as those of the nearest bf16, halves to even.
FEEDRATE_HD inline std::uint16_t round_to_bf16(std::uint32_t bits) noexcept {
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x40u : rounded >> 16);
}

/// The magnitude of a float below 2^-14, the least normal half, as a multiple of 2^-24. Adding 0.5
/// leaves exactly 24 bits behind the point, and the float unit rounds, halves to even.
FEEDRATE_HD inline std::uint32_t round_to_denormal_half(std::uint32_t magnitude) noexcept {
  return bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
}

/// A float's bits as those of the nearest IEEE half, halves to even; what rounds to 2^16 or more
/// becomes infinite.
FEEDRATE_HD inline std::uint16_t round_to_half(std::uint32_t bits) noexcept {
  const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520, halfway between the largest half and 2^16
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {
    half = round_to_denormal_half(magnitude);
  } else {  // the exponent's bias shrinks from 127 to 15
    half = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

/// The float that an IEEE half is; exact.
FEEDRATE_HD inline float widen_half(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_of(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return float_of(sign | ((magnitude << 13) + (112u << 23)));
  const float tiny = static_cast<float>(magnitude) * 0x1p-24f;
  return float_of(sign | bits_of(tiny));
}

}  // namespace detail

/// The upper half of a float, rounded to nearest even; NaN stays NaN.
class BFloat16 {
 public:
  BFloat16() = default;
  FEEDRATE_HD explicit BFloat16(float value) noexcept : bits_(round(value)) {}

  /// The same value; exact.
  FEEDRATE_HD explicit operator float() const noexcept {
    return detail::float_of(static_cast<std::uint32_t>(bits_) << 16);
  }

  FEEDRATE_HD friend bool operator==(BFloat16 a, BFloat16 b) noexcept {
    return float(a) == float(b);
  }

 private:
  FEEDRATE_HD static std::uint16_t round(float value) noexcept {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    return detail::round_to_bf16(detail::bits_of(value));
#endif
  }

  std::uint16_t bits_ = 0;
};

/// IEEE half: 1 sign, 5 exponent and 10 mantissa bits, with denormals. From float it is rounded to
/// nearest even; NaN stays NaN, and from 65520 on it is infinite.
class Float16 {
 public:
  Float16() = default;
  FEEDRATE_HD explicit Float16(float value) noexcept : bits_(round(value)) {}

  /// The same value; exact.
  FEEDRATE_HD explicit operator float() const noexcept {
#if defined(__CUDA_ARCH__)
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits_));
    return value;
#else
    return detail::widen_half(bits_);
#endif
  }

  FEEDRATE_HD friend bool operator==(Float16 a, Float16 b) noexcept {
    return float(a) == float(b);
  }

 private:
  FEEDRATE_HD static std::uint16_t round(float value) noexcept {
#if defined(__CUDA_ARCH__)
    std::uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    return detail::round_to_half(detail::bits_of(value));
#endif
  }

  std::uint16_t bits_ = 0;
};

}  // namespace feedrate::inline v0
