// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/resize_weights.hpp against the formula in double precision.
#include "feedrate/data/image/resize_weights.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace feedrate::resize_weights_tests {
using feedrate::detail::ResizeWeights;

namespace {

constexpr double one = 1 << detail::weight_bits;

/// The weight of source pixel i in output pixel j, as the definition has it.
double exact_weight(const ViewAxis& axis, int i, int j) {
  const double reach = std::max(1.0, axis.scale);
  const double centre = axis.start + (j + 0.5) * axis.scale;
  const auto triangle = [&](int k) {
    return std::max(0.0, 1 - std::abs((k + 0.5 - centre) / reach));
  };
  double sum = 0;
  for (int k = axis.low; k < axis.high; ++k) sum += triangle(k);
  return triangle(i) / sum;
}

}  // namespace

TEST_CASE("Weights are the triangle's, sum to one exactly and stay within the axis") {
  // Bug: a pixel is left out at the ends, or rounding makes flat colour drift.
  ResizeWeights weights;
  for (const ViewAxis& axis :
       {ViewAxis{0, 300, 0, 300.0 / 224, 224}, ViewAxis{13, 30, 13, 17.0 / 224, 224},
        ViewAxis{0, 1, 0, 1.0 / 64, 64}, ViewAxis{5, 905, 5, 900.0 / 7, 7},
        ViewAxis{0, 500, 85.04, 500.0 / 341, 224}, ViewAxis{0, 8, 0, 1, 8},
        ViewAxis{0, 448, 0, 2, 224}}) {
    weights.make(axis, false);
    REQUIRE(weights.begin() >= axis.low);
    REQUIRE(weights.end() <= axis.high);
    REQUIRE(weights.taps() % 4 == 0);
    for (int j = 0; j < axis.count; ++j) {
      int sum = 0;
      for (int t = 0; t < weights.taps(); ++t) {
        const int weight = weights.weights()[j * weights.taps() + t];
        const int i = weights.begin() + weights.first()[j] + t;
        sum += weight;
        REQUIRE(weight >= 0);
        REQUIRE((weight == 0 || i < weights.end()));
        if (i < axis.high) REQUIRE(std::abs(weight - one * exact_weight(axis, i, j)) < 1.01);
      }
      REQUIRE(sum == static_cast<int>(one));
    }
  }
}

TEST_CASE("A mirrored axis has the same weights in the opposite order") {
  // Bug: the first pixels are reversed and their weights are not.
  const ViewAxis axis{0, 300, 0, 300.0 / 224, 224};
  ResizeWeights plain, mirrored;
  plain.make(axis, false);
  mirrored.make(axis, true);
  for (int j = 0; j < axis.count; ++j) {
    const int k = axis.count - 1 - j;
    CHECK(plain.first()[j] == mirrored.first()[k]);
    CHECK(std::equal(plain.weights() + j * plain.taps(), plain.weights() + (j + 1) * plain.taps(),
                     mirrored.weights() + k * plain.taps()));
  }
}

TEST_CASE("Four weights are enough up to half the size") {
  // Bug: padding for the worst case doubles the work of the usual one.
  ResizeWeights weights;
  weights.make({0, 448, 0, 2, 224}, false);
  CHECK(weights.taps() == 4);
  weights.make({0, 300, 0, 300.0 / 224, 224}, false);
  CHECK(weights.taps() == 4);
}

}  // namespace feedrate::resize_weights_tests
