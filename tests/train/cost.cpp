// SPDX-License-Identifier: Apache-2.0
// Tests of operation, parameter and byte counts against values derived by hand.
#include "feedrate/train/cost.hpp"

#include <catch2/catch_test_macros.hpp>

#include "feedrate/train/zoo.hpp"

namespace feedrate::cost_tests {

TEST_CASE("A linear layer costs 2 operations per weight forward and as many for its gradient") {
  // Bug: an input gradient is counted for the first layer, which computes none.
  const ModelCost cost = cost_of(zoo::wide_linear());
  REQUIRE(cost.forward_flops == 2.0 * 10000 * 100);
  REQUIRE(cost.step_flops == 2 * cost.forward_flops);
  REQUIRE(cost.parameters == 10000 * 100 + 100);
  REQUIRE(cost.input_bytes == 40000);
  REQUIRE(cost.activation_bytes == 400);
}

TEST_CASE("The step of small-images costs what its layers add up to by hand") {
  // Bug: a convolution counted by its input's size, or a layer left out.
  // conv1: 26 x 26 outputs x 32 channels x 9 inputs x 2         =   389,376
  // conv2: 11 x 11 x 64 x (9 x 32) x 2                          = 4,460,544
  // conv3:  3 x  3 x 64 x (9 x 64) x 2                          =   663,552
  // dense: 576 x 64 x 2 = 73,728, and 64 x 10 x 2 = 1,280; sum  = 5,588,480
  const ModelCost cost = cost_of(zoo::small_images());
  REQUIRE(cost.forward_flops == 5588480);
  REQUIRE(cost.step_flops == 3 * 5588480.0 - 389376);
  REQUIRE(cost.parameters == 93322);
}

TEST_CASE("Padding counts as it is computed, and the CNN of images is as large as it says") {
  // Bug: the direct count leaves out products with zeros. conv1 of images by hand:
  // (224 + 6 - 7) / 4 + 1 = 56; 56 x 56 x 32 x (49 x 3) x 2 = 29,503,488; the others:
  // 28 x 28 x 64 x 288 x 2 = 14 x 14 x 128 x 576 x 2 = 28,901,376, 7 x 7 x 256 x 1152 x 2 the
  // same, and 2304 x 10 x 2 = 46,080.
  const ModelCost cost = cost_of(zoo::images());
  REQUIRE(cost.forward_flops == 29503488.0 + 3 * 28901376 + 46080);
  REQUIRE(cost.input_bytes == 224 * 224 * 3 * 4);
}

}  // namespace feedrate::cost_tests
