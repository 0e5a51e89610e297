// SPDX-License-Identifier: Apache-2.0
// Tests of how layers are grouped into blocks.
#include "feedrate/train/plan.hpp"

#include <catch2/catch_test_macros.hpp>

#include "feedrate/train/zoo.hpp"

namespace feedrate::plan_tests {

TEST_CASE("Pooling and ReLU join the product before them, in either order") {
  // Bug: a second pooling replaces the first one instead of starting a block of its own.
  const ModelSpec model{
      "m",
      {12, 12, 1},
      {Conv2d{.out = 4}, MaxPool{}, Relu{}, MaxPool{}, Relu{}, Flatten{}, Linear{2}}};
  const std::vector<Block> blocks = plan_of(model);
  REQUIRE(blocks.size() == 3);
  REQUIRE((blocks[0].product && blocks[0].relu() && blocks[0].pools()));
  REQUIRE((!blocks[1].product && blocks[1].relu() && blocks[1].pools()));
  REQUIRE((blocks[2].product && !blocks[2].relu() && !blocks[2].pools()));
  REQUIRE(blocks[0].raw == Image{10, 10, 4});
  REQUIRE(blocks[0].out == Image{5, 5, 4});
  REQUIRE(blocks[1].out == Image{2, 2, 4});
}

TEST_CASE("GELU joins a bare product, and neither pooling nor another activation joins GELU") {
  // Bug: GELU taken over a maximum, which it does not commute with.
  const ModelSpec model{
      "m",
      {12, 12, 1},
      {Conv2d{.out = 4}, Gelu{}, MaxPool{}, Gelu{}, Relu{}, Gelu{}, Flatten{}, Linear{2}}};
  const std::vector<Block> blocks = plan_of(model);
  REQUIRE(blocks.size() == 6);
  REQUIRE((blocks[0].product && blocks[0].gelu() && blocks[0].keeps_raw()));
  REQUIRE((blocks[1].pools() && blocks[1].activation == Activation::none));
  REQUIRE((blocks[2].gelu() && blocks[3].relu() && blocks[4].gelu()));
  REQUIRE_FALSE(blocks[4].keeps_raw());
}

TEST_CASE("Parameters lie one after the other: weights then bias of each product") {
  // Bug: a block without a product takes room, and saved parameters shift.
  const std::vector<Block> blocks = plan_of(zoo::small_images());
  // 3 x 3 x 1 x 32 weights and 32 biases, then 3 x 3 x 32 x 64 and 64, ...
  REQUIRE(blocks[0].weights_at == 0);
  REQUIRE(blocks[0].bias_at == 288);
  REQUIRE(blocks[1].weights_at == 320);
  REQUIRE(blocks[1].bias_at == 320 + 18432);
  REQUIRE(parameters_of(blocks) == 320 + 18496 + 36928 + 36928 + 650);
}

}  // namespace feedrate::plan_tests
