// SPDX-License-Identifier: Apache-2.0
// Tests of what a device decides by itself.
#include "feedrate/train/kernels/step_state.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/train/cpu/cpu.hpp"

namespace feedrate::step_state_tests {

namespace {

StepState checked(std::vector<std::int32_t> labels, StepState state = {}, int accumulate = 1) {
  std::vector<std::int32_t> copy(labels.size(), 77);
  Cpu{}.for_rows(1, CheckLabels{labels.data(), copy.data(), &state, labels.size(), 3, accumulate});
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool fits = labels[i] >= -1 && labels[i] < 3;
    REQUIRE(copy[i] == (fits ? labels[i] : -1));
  }
  return state;
}

/// Decides on an update with a gradient of this squared norm.
void decide(StepState& state, const UpdateRules& rules, float squares) {
  const std::vector<float> sums{squares / 2, squares / 2};
  Cpu{}.for_rows(1, PrepareUpdate{adam(), rules, &state, sums.data(), 2});
}

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("Labels that count are counted, and share the loss of the batch") {
  // Bug: the mean is taken over ignored samples, too, or over no samples.
  StepState scaled;
  scaled.loss_scale = 512;
  const StepState state = checked({0, -1, 2, 1, -1}, scaled, 2);
  REQUIRE(state.counted == 3);
  REQUIRE(std::abs(state.gradient_scale - 512.0f / 6) < 1e-4f);
  REQUIRE(state.refused == 0);
  REQUIRE(checked({-1, -1}).gradient_scale == 0);
}

TEST_CASE("The first wrong label is remembered until the host has looked") {
  // Bug: the last one, or one of a later batch, hides it.
  StepState state = checked({0, 1, -2, 3});
  REQUIRE(state.refused == 1);
  REQUIRE(state.wrong_sample == 2);
  REQUIRE(state.wrong_label == -2);
  REQUIRE(state.gradient_scale == 0);
  state = checked({9, 0}, state);
  REQUIRE(state.wrong_sample == 2);
}

TEST_CASE("The mean loss is over the samples that count") {
  // Bug: the sum is divided by the size of the batch.
  StepState state;
  state.counted = 2;
  const std::vector<float> losses{1, 0, 2, 0};
  Cpu{}.for_rows(1, MeanLoss{losses.data(), &state, 4});
  REQUIRE(state.loss == 1.5f);
  state.counted = 0;
  Cpu{}.for_rows(1, MeanLoss{losses.data(), &state, 4});
  REQUIRE(state.loss == 0);
}

TEST_CASE(
    "The squares of a gradient are summed without the loss scale, and show what is infinite") {
  // Bug: squares of scaled gradients overflow, so that every update is left out.
  Random random(8, 0, 0);
  StepState state;
  state.loss_scale = 65536;
  std::vector<float> gradient(1003), sums(7);
  double expected = 0;
  for (float& g : gradient) {
    g = 1e20f * random.uniform(-1, 1);
    expected += double{g} / 65536 * double{g} / 65536;
  }
  const SquareParts body{gradient.data(), &state, sums.data(), gradient.size(), sums.size()};
  Cpu{}.for_rows(sums.size(), body);
  double sum = 0;
  for (float part : sums) sum += double{part};
  REQUIRE(std::abs(sum / expected - 1) < 1e-5);
  for (float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    gradient[1002] = bad;
    Cpu{}.for_rows(sums.size(), body);
    REQUIRE_FALSE(std::isfinite(sums.back()));
  }
}

TEST_CASE("An update is unscaled, then clipped to the allowed norm") {
  // Bug: gradients that are short enough are lengthened, or the loss scale stays in them.
  StepState state;
  state.loss_scale = 4;
  decide(state, {.clip_norm = 2, .scales = true}, 1);
  REQUIRE(state.factor == 0.25f);
  decide(state, {.clip_norm = 2, .scales = true}, 64);
  REQUIRE(std::abs(state.factor - 0.0625f) < 1e-7f);
  REQUIRE(state.norm == 8);
  REQUIRE(state.updates == 2);
  REQUIRE(state.now.bias1 == scalars_of(adam(), 2).bias1);
}

TEST_CASE("An overflow halves the loss scale and leaves the update out; patience doubles it") {
  // Bug: the update is done with the infinite gradient, Adam's time goes on, or the scale grows
  // from updates that were left out. By hand: 8, halved to 4, two good ones double it to 8.
  StepState state;
  state.loss_scale = 8;
  const UpdateRules rules{.scales = true, .patience = 2};
  decide(state, rules, infinity);
  REQUIRE(state.apply == 0);
  REQUIRE(state.loss_scale == 4);
  REQUIRE(state.updates == 0);
  decide(state, rules, 1);
  REQUIRE(state.apply == 1);
  REQUIRE(state.factor == 0.25f);
  REQUIRE(state.loss_scale == 4);
  decide(state, rules, 1);
  REQUIRE(state.factor == 0.25f);
  REQUIRE(state.loss_scale == 8);
  decide(state, rules, std::numeric_limits<float>::quiet_NaN());
  REQUIRE(state.skipped == 2);
  state.loss_scale = rules.smallest_scale;
  decide(state, rules, infinity);
  REQUIRE(state.loss_scale == rules.smallest_scale);
}

TEST_CASE("A wrong label leaves updates out, and the loss scale as it is") {
  // Bug: a batch without a gradient counts as a good one.
  StepState state;
  state.refused = 1;
  decide(state, {.scales = true, .patience = 1}, 1);
  REQUIRE(state.apply == 0);
  REQUIRE(state.loss_scale == 1);
}

}  // namespace feedrate::step_state_tests
