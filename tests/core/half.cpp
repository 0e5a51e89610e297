// SPDX-License-Identifier: Apache-2.0
// Tests of core/half.hpp.
#include "feedrate/core/half.hpp"

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
