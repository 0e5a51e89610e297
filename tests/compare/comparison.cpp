// SPDX-License-Identifier: Apache-2.0
#include "feedrate/compare/comparison.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace feedrate::comparison_tests {
namespace {

TEST_CASE("The interval of a ratio is that of its logarithm", "[comparison]") {
  // Bug: one-sided bounds called a 95 % interval.
  const Interval ratio = ratio_interval({.mean = std::log(0.9), .error = 0.01, .freedom = 5});
  CHECK(ratio.estimate == Catch::Approx(0.9));
  // Student's t with 5 degrees exceeds 2.571 with probability 0.025 (tables).
  CHECK(ratio.low == Catch::Approx(0.9 * std::exp(-0.02571)).epsilon(1e-4));
  CHECK(ratio.high == Catch::Approx(0.9 * std::exp(0.02571)).epsilon(1e-4));
}

}  // namespace
}  // namespace feedrate::comparison_tests
