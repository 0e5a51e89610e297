// SPDX-License-Identifier: Apache-2.0
// Tests of core/half.hpp.
#include "feedrate/core/half.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

using feedrate::BFloat16;

namespace {

float through(std::uint32_t bits) {
  return float(BFloat16(std::bit_cast<float>(bits)));
}

std::uint32_t bits_through(std::uint32_t bits) {
  return std::bit_cast<std::uint32_t>(through(bits));
}

}  // namespace

TEST_CASE("every bf16 value but NaN survives the way to float and back") {
  // Bug: a value that bf16 can hold but that conversion changes.
  for (std::uint32_t upper = 0; upper <= 0xffff; ++upper) {
    const std::uint32_t bits = upper << 16;
    if (std::isnan(std::bit_cast<float>(bits))) continue;
    REQUIRE(bits_through(bits) == bits);
  }
}

TEST_CASE("rounding goes to the nearest bf16 value, and halves go to the even one") {
  // Bug: truncation, rounding half up, and rounding that forgets the carry into the exponent.
  CHECK(bits_through(0x3f800000u + 0x7fffu) == 0x3f800000u);  // just below the half: down
  CHECK(bits_through(0x3f800000u + 0x8000u) == 0x3f800000u);  // half, 0x3f80 is even: down
  CHECK(bits_through(0x3f800000u + 0x8001u) == 0x3f810000u);  // just above the half: up
  CHECK(bits_through(0x3f810000u + 0x8000u) == 0x3f820000u);  // half, 0x3f81 is odd: up
  CHECK(through(0x3fffffffu) == 2.0f);                        // carries into the exponent
  CHECK(bits_through(0xbf810000u + 0x8000u) == 0xbf820000u);  // negative values round alike
}

TEST_CASE("what is too large becomes infinite, and infinities stay") {
  // Bug: a largest float that rounds to NaN instead of infinity, and infinities that change.
  const float largest = std::numeric_limits<float>::max();
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(float(BFloat16(largest)) == infinity);
  CHECK(float(BFloat16(-largest)) == -infinity);
  CHECK(float(BFloat16(infinity)) == infinity);
  CHECK(float(BFloat16(-infinity)) == -infinity);
}

TEST_CASE("NaN stays NaN whatever its payload and sign") {
  // Bug: a NaN whose payload lies in the lower half and which is rounded to infinity.
  for (const std::uint32_t bits :
       {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
    CHECK(std::isnan(through(bits)));
  }
}

TEST_CASE("equality is that of floats") {
  // Bug: equality by bits, under which the zeros differ and NaN equals itself.
  CHECK(BFloat16(0.0f) == BFloat16(-0.0f));
  CHECK(BFloat16(1.5f) == BFloat16(1.5f));
  CHECK_FALSE(BFloat16(1.5f) == BFloat16(2.0f));
  CHECK_FALSE(BFloat16(std::nanf("")) == BFloat16(std::nanf("")));
}

namespace {

/// The half nearest to a double, by trying both neighbours of its truncation; halves to even.
float nearest_half(double value) {
  const double magnitude = std::abs(value);
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = f x 2^exponent, 0.5 <= f < 1
  const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
  const double below = std::floor(magnitude / unit), rest = magnitude / unit - below;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2.0) == 1.0);
  const double rounded = (below + (up ? 1.0 : 0.0)) * unit;
  const double bounded = rounded >= 65536.0 ? std::numeric_limits<double>::infinity() : rounded;
  return static_cast<float>(std::copysign(bounded, value));
}

float through_half(float value) {
  return float(feedrate::Float16(value));
}

}  // namespace

TEST_CASE("every half value survives the way to float and back, and lies where its bits say") {
  // Bug: denormals that become zero, or an exponent with the wrong bias.
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = std::bit_cast<feedrate::Float16>(static_cast<std::uint16_t>(bits));
    const std::uint32_t exponent = (bits >> 10) & 31u, mantissa = bits & 0x3ffu;
    if (exponent == 31 && mantissa != 0) {
      REQUIRE(std::isnan(float(half)));
      REQUIRE(std::isnan(through_half(float(half))));
      continue;
    }
    const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
    const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                             : exponent == 0 ? std::ldexp(mantissa, -24)
                                             : std::ldexp(1024 + mantissa, int(exponent) - 25);
    REQUIRE(double{float(half)} == sign * magnitude);
    REQUIRE(std::bit_cast<std::uint16_t>(feedrate::Float16(float(half))) == bits);
  }
}

TEST_CASE("floats round to the nearest half, and those in the middle to the even one") {
  // Bug: truncation, rounding half up, denormals rounded twice, or 65520 that stays finite. Each
  // float of 2^16 spread over all exponents, and all neighbours of the middles between two halves.
  for (std::uint32_t upper = 0; upper <= 0xffff; ++upper) {
    for (const std::uint32_t lower :
         {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x8000u, 0xffffu}) {
      const float value = std::bit_cast<float>((upper << 16) | lower);
      if (!std::isfinite(value)) continue;
      REQUIRE(through_half(value) == nearest_half(double{value}));
    }
  }
  for (std::uint32_t bits = 0; bits < 0x7c00u; ++bits) {
    const float here = float(std::bit_cast<feedrate::Float16>(static_cast<std::uint16_t>(bits)));
    const float next =
        float(std::bit_cast<feedrate::Float16>(static_cast<std::uint16_t>(bits + 1)));
    const float middle = bits == 0x7bffu ? 65520.0f : here + (next - here) / 2;
    REQUIRE(through_half(middle) == (bits % 2 == 0 ? here : next));
    REQUIRE(through_half(std::nextafter(middle, 0.0f)) == here);
    REQUIRE(through_half(-std::nextafter(middle, 1e9f)) == -next);
  }
}

TEST_CASE("halves keep infinities, NaN and the sign of zero") {
  // Bug: NaN whose payload is cut off becomes infinite.
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(through_half(infinity) == infinity);
  CHECK(through_half(-1e30f) == -infinity);
  CHECK(std::signbit(through_half(-1e-30f)));
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u}) {
    CHECK(std::isnan(through_half(std::bit_cast<float>(bits))));
  }
  CHECK_FALSE(feedrate::Float16(std::nanf("")) == feedrate::Float16(std::nanf("")));
  CHECK(feedrate::Float16(0.0f) == feedrate::Float16(-0.0f));
}
