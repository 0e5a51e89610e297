// SPDX-License-Identifier: Apache-2.0
#include "feedrate/compare/conclusion.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace feedrate::conclusion_tests {
namespace {

TEST_CASE("One slower metric among passing ones is the conclusion on all of them", "[conclusion]") {
  // Bug: an order of the values in which `inconclusive` hides `slower`.
  CHECK(worse_of(Conclusion::pass, Conclusion::slower) == Conclusion::slower);
  CHECK(worse_of(Conclusion::slower, Conclusion::inconclusive) == Conclusion::slower);
  CHECK(worse_of(Conclusion::pass, Conclusion::not_comparable) == Conclusion::not_comparable);
  CHECK(name_of(Conclusion::not_comparable) == "not_comparable");
}

TEST_CASE("A loss of a tenth is a rate of nine tenths", "[conclusion]") {
  // Bug: log(1 + loss), which reads a loss as a slow-down of time.
  const LossLimits limits{.tolerated = 0.05, .max = 0.1};
  CHECK(std::exp(limits.log_max()) == Catch::Approx(0.9));
  CHECK(std::exp(limits.log_tolerated()) == Catch::Approx(0.95));
}

}  // namespace
}  // namespace feedrate::conclusion_tests
