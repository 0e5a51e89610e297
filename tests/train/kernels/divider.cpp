// SPDX-License-Identifier: Apache-2.0
// Tests of division by multiplication.
#include "feedrate/train/kernels/divider.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>

using feedrate::Divider;

TEST_CASE("A divider divides as the processor does, up to 2^31 - 1") {
  // Bug: a multiplier that is one too small errs at the multiples of the divisor.
  constexpr std::uint32_t most = (std::uint32_t{1} << 31) - 1;
  for (std::uint32_t divisor : {1u, 2u, 3u, 5u, 7u, 9u, 10u, 63u, 64u, 65u, 147u, 50176u, 65536u,
                                1000003u, 1u << 30, (1u << 30) + 1, most - 1, most}) {
    const Divider by(divisor);
    const auto check = [&](std::uint64_t n) {
      if (n > most) return;
      const auto dividend = static_cast<std::uint32_t>(n);
      REQUIRE(by.quotient(dividend) == dividend / divisor);
      REQUIRE(by.remainder(dividend) == dividend % divisor);
    };
    for (std::uint64_t n = 0; n < 200; ++n) check(n);
    for (std::uint64_t n = most - 200; n <= most; ++n) check(n);
    for (std::uint64_t k = 1; k < 2000; ++k) {
      const std::uint64_t multiple = most / divisor * k / 2000 * divisor;
      check(multiple);
      check(multiple + divisor - 1);
    }
  }
  REQUIRE(Divider().quotient(most) == most);
}
