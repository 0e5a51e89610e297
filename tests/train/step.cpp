// SPDX-License-Identifier: Apache-2.0
// Tests of the erased step.
#include "feedrate/train/step.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace feedrate::step_tests {

namespace {

/// The least that a step has to be.
class NoStep : public AnyStep {
  void run(const TensorView&, std::span<const std::int32_t>) override {}
  void synchronize() override {}
  double loss() override { return 0; }
  double flops_per_sample() const override { return 0; }
  std::size_t memory_bytes() const override { return 0; }
};

}  // namespace

TEST_CASE("A step without parameters saves and loads nothing, and refuses anything else") {
  // Bug: a checkpoint of a step that only pretends to train is written full of rubbish.
  NoStep none;
  AnyStep& step = none;
  std::vector<float> some(3);
  REQUIRE(step.parameter_count() == 0);
  REQUIRE_NOTHROW(step.save({}));
  REQUIRE_NOTHROW(step.load({}));
  REQUIRE_THROWS_AS(step.save(some), Error);
  REQUIRE_THROWS_AS(step.load(some), Error);
  REQUIRE_THROWS_AS(step.set_learning_rate(0.1f), Error);
}

}  // namespace feedrate::step_tests
