// SPDX-License-Identifier: Apache-2.0
// Tests of max-pooling with bias and ReLU; cpu_step.cpp checks the gradients of many shapes.
#include "feedrate/train/kernels/pooling.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "feedrate/train/cpu/cpu.hpp"

namespace feedrate::pooling_tests {

namespace {

/// A 2 x 2 pooling of one 3 x 5 image with one channel; the last row and column are left out.
const PoolWindows windows{{3, 5, 1}, {1, 2, 1}, 2, 2};

}  // namespace

TEST_CASE("The larger of a number and NaN is NaN, in either order") {
  // Bug: a window hides a NaN, so a step that has diverged looks well.
  REQUIRE(std::isnan(larger(NAN, 1.0f)));
  REQUIRE(std::isnan(larger(1.0f, NAN)));
  REQUIRE(larger(1.0f, 2.0f) == 2.0f);
  REQUIRE(larger(2.0f, 1.0f) == 2.0f);
}

TEST_CASE("Pooling takes the largest of each window, then bias and ReLU") {
  // Bug: a window starts in the row that was left out, or bias is added per window element.
  const std::vector<float> x{1,  2,  -9, -8, 50,  //
                             4,  3,  -7, -6, 60,  //
                             70, 70, 70, 70, 70};
  const float bias = 0.5f;
  std::vector<float> y(2);
  Cpu{}.for_rows(2, PoolForward<float>{{x.data(), &bias, windows, floor_of(false)}, y.data()});
  REQUIRE(y == std::vector<float>{4.5f, -5.5f});
  Cpu{}.for_rows(2, PoolForward<float>{{x.data(), &bias, windows, floor_of(true)}, y.data()});
  REQUIRE(y == std::vector<float>{4.5f, 0.0f});
}

TEST_CASE("The gradient of a pooling goes to the first of equal largest elements, and only there") {
  // Bug: ties share the gradient, or each of them gets all of it.
  const std::vector<float> x{5, 5, 1, 2, 0,  //
                             5, 1, 2, 1, 0,  //
                             0, 0, 0, 0, 0};
  const float bias = 0.25f;
  const std::vector<float> y{5.25f, 2.25f};
  std::vector<float> dy{10, 20}, dx(15);
  Cpu{}.for_rows(2,
                 PoolBackward<float, float>{
                     {x.data(), &bias, windows, floor_of(false)}, y.data(), dy.data(), dx.data()});
  std::vector<float> expected(15);
  expected[0] = 10;
  expected[3] = 20;
  REQUIRE(dx == expected);
  REQUIRE(dy == std::vector<float>{0, 0});
}

}  // namespace feedrate::pooling_tests
