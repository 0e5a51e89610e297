// SPDX-License-Identifier: Apache-2.0
#include "feedrate/compare/robust_mean.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace feedrate::robust_mean_tests {
namespace {

TEST_CASE("Fewer than ten values have their plain mean and standard error", "[robust_mean]") {
  // Bug: six blocks lose a third of themselves to trimming, and the first look never tells.
  const std::vector<double> values = {1, 2, 3, 4, 5, 9};
  const RobustMean robust = robust_mean(values);
  CHECK(robust.mean == Catch::Approx(4));
  // Sum of squares 9 + 4 + 1 + 0 + 1 + 25 = 40, over 5 is 8, root over root of 6.
  CHECK(robust.error == Catch::Approx(std::sqrt(8.0 / 6)));
  CHECK(robust.freedom == 5);
}

TEST_CASE("One wild value of ten moves neither mean nor error", "[robust_mean]") {
  // Bug: a burst of the machine in one block turns a clear answer into none.
  std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const RobustMean calm = robust_mean(values);
  values.back() = 1e6;
  const RobustMean wild = robust_mean(values);
  CHECK(wild.mean == calm.mean);
  CHECK(wild.error == calm.error);
  CHECK(calm.mean == Catch::Approx(5.5));
  // Winsorised: 2, 2, 3 to 8, 9, 9; squares about 5.5: 4 x 12.25 + 2 x (6.25 + 2.25 + 0.25) = 66.5,
  // over 9; the error is the root of that, times the root of 10, over the eight values kept.
  CHECK(calm.error == Catch::Approx(std::sqrt(66.5 / 9) * std::sqrt(10.0) / 8));
  CHECK(calm.freedom == 7);
}

TEST_CASE("One value has a mean, and bounds that say nothing", "[robust_mean]") {
  // Bug: an error of zero, by which a single block proves everything.
  const RobustMean one = robust_mean(std::vector<double>{3});
  CHECK(one.mean == 3);
  CHECK(one.low(0.05) < -1e300);
  CHECK(one.high(0.05) > 1e300);
}

TEST_CASE("Bounds are Student's, one-sided", "[robust_mean]") {
  // Bug: alpha of both sides for a claim on one, or half of the alpha.
  const RobustMean robust{.mean = 1, .error = 2, .freedom = 5};
  // Student's t with 5 degrees exceeds 2.015 with probability 0.05 (tables).
  CHECK(robust.high(0.05) == Catch::Approx(1 + 2 * 2.015).epsilon(1e-3));
  CHECK(robust.low(0.05) == Catch::Approx(1 - 2 * 2.015).epsilon(1e-3));
}

}  // namespace
}  // namespace feedrate::robust_mean_tests
