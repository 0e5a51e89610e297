// SPDX-License-Identifier: Apache-2.0
// Tests of the elementwise and row-wise bodies.
#include "feedrate/train/kernels/kernels.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "feedrate/train/cpu/cpu.hpp"

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

TEST_CASE("GELU keeps what entered it, and its gradient is its slope there") {
  // Bug: a derivative of the exact form beside the value of the tanh form, or taken at the output.
  const std::vector<float> x{-4, -1.5f, -0.2f, 0, 0.3f, 1, 5}, bias(7, 0.25f);
  std::vector<float> z(7), y(7), dy(7, 2.0f);
  Cpu{}.for_rows(1, BiasGelu<float>{x.data(), bias.data(), z.data(), y.data(), 7});
  Cpu{}.for_each(7, GeluBackward<float>{z.data(), dy.data()});
  const auto exact = [](double at) {
    constexpr double a = 0.797884560802865356;  // sqrt(2 / pi)
    return at / 2 * (1 + std::tanh(a * (at + 0.044715 * at * at * at)));
  };
  for (std::size_t i = 0; i < 7; ++i) {
    const double at = double{x[i]} + 0.25, h = 1e-6;
    CHECK(z[i] == Catch::Approx(at));
    CHECK(double{y[i]} == Catch::Approx(exact(at)).margin(1e-6));
    CHECK(double{dy[i]} == Catch::Approx((exact(at + h) - exact(at - h)) / h).margin(1e-5));
  }
  // PyTorch: F.gelu(torch.tensor(1.25), approximate="tanh").
  CHECK(gelu(1.25f) == Catch::Approx(1.11771420f));
}

}  // namespace feedrate::kernels_tests
