// SPDX-License-Identifier: Apache-2.0
// Tests of the numbers that look random.
#include "feedrate/train/noise.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/train/cpu/cpu.hpp"

namespace feedrate::noise_tests {

TEST_CASE("Noise fills [-1, 1) evenly, and neighbours have nothing to do with each other") {
  // Bug: integers, zeros or a ramp, on which a product is measured as faster than it is.
  constexpr std::size_t count = 100000;
  std::vector<float> x(count, NAN);
  Cpu{}.for_each(count, Noise<float>{x.data()});
  double sum = 0, squares = 0, products = 0;
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE((x[i] >= -1 && x[i] < 1));
    sum += double{x[i]};
    squares += double{x[i]} * double{x[i]};
    products += double{x[i]} * double{x[(i + 1) % count]};
  }
  // Standard errors of the means: 0.58, 0.30 and 0.33, each over the root of 100,000.
  REQUIRE(std::abs(sum / count) < 0.01);
  REQUIRE(std::abs(squares / count - 1.0 / 3) < 0.005);
  REQUIRE(std::abs(products / count) < 0.005);
}

}  // namespace feedrate::noise_tests
