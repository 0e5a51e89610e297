// SPDX-License-Identifier: Apache-2.0
// bfloat16 as a storage type: 1 sign, 8 exponent and 7 mantissa bits. Arithmetic happens in float.
#pragma once

#include <bit>
#include <cstdint>

namespace feedrate {

/// The upper half of a float, rounded to nearest even; NaN stays NaN.
class BFloat16 {
 public:
  BFloat16() = default;
  explicit BFloat16(float value) noexcept : bits_(round(std::bit_cast<std::uint32_t>(value))) {}

  explicit operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }

  friend bool operator==(BFloat16 a, BFloat16 b) noexcept { return float(a) == float(b); }

 private:
  static std::uint16_t round(std::uint32_t bits) noexcept {
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    return static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x40u : rounded >> 16);
  }

  std::uint16_t bits_ = 0;
};

}  // namespace feedrate
