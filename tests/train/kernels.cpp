// SPDX-License-Identifier: Apache-2.0
// Tests of the elementwise and row-wise bodies.
#include "feedrate/train/kernels.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "feedrate/train/cpu.hpp"

namespace feedrate::kernels_tests {

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("ReLU cuts off below zero, keeps NaN, and is nothing when it is off") {
  // Bug: NaN becomes 0, so a step that has diverged looks well.
  REQUIRE(activate(-2.0f, floor_of(true)) == 0.0f);
  REQUIRE(activate(2.0f, floor_of(true)) == 2.0f);
  REQUIRE(activate(-2.0f, floor_of(false)) == -2.0f);
  REQUIRE(std::isnan(activate(not_a_number, floor_of(true))));
}

TEST_CASE("Bias and ReLU work in place, for rows longer than a vector") {
  // Bug: the promise that iterations are independent is false, and vectors overwrite their input.
  const std::size_t channels = 37;
  std::vector<float> x(3 * channels), bias(channels);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 7) - 3.0f;
  for (std::size_t c = 0; c < channels; ++c) bias[c] = float(c % 3) - 1.0f;
  std::vector<float> expected = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected[i] = std::max(0.0f, expected[i] + bias[i % channels]);
  }
  Cpu{}.for_rows(3, BiasRelu<float, float>{x.data(), bias.data(), x.data(), channels, 0.0f});
  REQUIRE(x == expected);
}

TEST_CASE("The gradient of ReLU stops where its output was zero") {
  // Bug: the mask is read from the sign of the gradient.
  const std::vector<float> y{0, 1, 0, 2};
  std::vector<float> dy{-1, -2, 3, 4};
  Cpu{}.for_each(4, ReluBackward<float>{y.data(), dy.data()});
  REQUIRE(dy == std::vector<float>{0, -2, 0, 4});
}

}  // namespace feedrate::kernels_tests
