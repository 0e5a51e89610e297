// SPDX-License-Identifier: Apache-2.0
// Tests of the optimizers on one parameter, by hand; cpu_step.cpp compares them with PyTorch.
#include "feedrate/train/optimizer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace feedrate::optimizer_tests {

TEST_CASE("Momentum carries half of the last step on when it is a half") {
  // Bug: the gradient is damped by 1 - momentum. By hand: v = 2, then 0.5 x 2 + 2 = 3;
  // p = 1 - 0.1 x 2 - 0.1 x 3 = 0.5.
  const UpdateScalars now = scalars_of(sgd(0.1f, 0.5f), 1);
  float p = 1, g = 2, v = 0;
  const Sgd update{sgd(0.1f, 0.5f), &now, &p, &g, &v};
  update(0);
  update(0);
  REQUIRE(v == 3.0f);
  REQUIRE(std::abs(p - 0.5f) < 1e-6f);
}

TEST_CASE("The first step of Adam is the rate, whatever the size of the gradient") {
  // Bug: no bias correction: the first step would be 0.1 / sqrt(0.001) = 3.16 times that.
  for (float gradient : {1e-3f, 1.0f, -50.0f}) {
    const UpdateScalars now = scalars_of(adam(0.01f), 1);
    float p = 0, m = 0, v = 0;
    Adam{adam(0.01f), &now, &p, &gradient, &m, &v}(0);
    REQUIRE(std::abs(std::abs(p) - 0.01f) < 1e-6f);
    REQUIRE(std::signbit(p) != std::signbit(gradient));
  }
}

TEST_CASE("Plain descent keeps no state, momentum one array and Adam two") {
  // Bug: an optimizer writes to an array that was never carved.
  REQUIRE(state_arrays(sgd(0.1f)) == 0);
  REQUIRE(state_arrays(sgd(0.1f, 0.9f)) == 1);
  REQUIRE(state_arrays(adam()) == 2);
}

TEST_CASE("Invalid constants are an error") {
  // Bug: a momentum of 1 or a rate of NaN trains to infinity without a word.
  OptimizerSpec none = sgd(0.1f);
  none.accumulate = 0;
  REQUIRE_THROWS_AS(require_sane(none), Error);
  REQUIRE_THROWS_AS(require_sane(sgd(NAN)), Error);
  REQUIRE_THROWS_AS(require_sane(sgd(0.1f, 1.0f)), Error);
  REQUIRE_NOTHROW(require_sane(adam()));
}

}  // namespace feedrate::optimizer_tests
