// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/comparison/outliers.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

namespace feedrate::outliers_tests {
namespace {

using Catch::Approx;

TEST_CASE("A modified z-score is 0.6745 times the distance over the MAD", "[outliers]") {
  // Bug: an outlier that inflates the spread by which it is judged, and so hides itself.
  const std::vector<double> values = {10, 11, 12, 13, 100};
  // The median is 12, the distances are 2, 1, 0, 1 and 88, and their median is 1.
  const std::vector<double> scores = modified_z_scores(values);
  CHECK(scores[0] == Approx(-2 * 0.6745));
  CHECK(scores[2] == 0);
  CHECK(scores[4] == Approx(88 * 0.6745));
}

TEST_CASE("Equal values are no outliers, and one that differs among them is", "[outliers]") {
  // Bug: a division by a MAD of zero: not-a-number or infinity in a report.
  CHECK(modified_z_scores(std::vector<double>{5, 5, 5}) == std::vector<double>{0, 0, 0});
  std::vector<double> values(20, 5.0);
  values.back() = 4;
  // The mean absolute deviation is 1/20, a standard deviation of sqrt(pi / 2) / 20.
  const std::vector<double> scores = modified_z_scores(values);
  CHECK(scores.front() == 0);
  CHECK(scores.back() == Approx(-20 / std::sqrt(std::acos(-1) / 2)));
}

TEST_CASE("A difference that does not matter is no outlier, however alike the others are",
          "[outliers]") {
  // Bug: of three nodes with 1 % of noise, one is called an outlier in 28 % of cases: two of them
  // are often alike by chance.
  CHECK_FALSE(deviation_of(0, 98, 100, -20).outlier);
  CHECK_FALSE(deviation_of(0, 80, 100, -3.4).outlier);
  CHECK(deviation_of(0, 80, 100, -3.6).outlier);
  CHECK(deviation_of(0, 80, 100, -3.6).off == Approx(-0.2));
  CHECK_FALSE(deviation_of(0, 0, 0, 0).outlier);
}

}  // namespace
}  // namespace feedrate::outliers_tests
