// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/crop.hpp: torchvision's rule for random crops.
#include "feedrate/data/image/crop.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace feedrate::crop_tests {

TEST_CASE("Random crops lie within the picture and have the areas and aspects of torchvision's") {
  // Bug: area or aspect is drawn from another distribution. The means are those of 40 000 draws of
  // torchvision's get_params on 500 x 375: area share 0.4335, aspect 1.0459, centre 0.4990; with a
  // standard error below 0.002 on both sides.
  double area = 0, aspect = 0, centre = 0;
  bool at_left = false, at_right = false, at_top = false, at_bottom = false;
  const int draws = 40000;
  for (int i = 0; i < draws; ++i) {
    Random random(7, 0, static_cast<std::uint64_t>(i));
    const Crop crop = random_resized_crop(500, 375, {}, random);
    REQUIRE((crop.x >= 0 && crop.y >= 0 && crop.width >= 1 && crop.height >= 1));
    REQUIRE((crop.x + crop.width <= 500 && crop.y + crop.height <= 375));
    area += crop.width * crop.height / 187500.0 / draws;
    aspect += static_cast<double>(crop.width) / crop.height / draws;
    centre += (crop.x + crop.width / 2.0) / 500 / draws;
    at_left = at_left || crop.x == 0;
    at_right = at_right || crop.x + crop.width == 500;
    at_top = at_top || crop.y == 0;
    at_bottom = at_bottom || (crop.height < 300 && crop.y + crop.height == 375);
  }
  CHECK(std::abs(area - 0.4335) < 0.004);
  CHECK(std::abs(aspect - 1.0459) < 0.004);
  CHECK(std::abs(centre - 0.4990) < 0.006);
  CHECK(at_left);
  CHECK(at_right);
  CHECK(at_top);
  CHECK(at_bottom);
}

TEST_CASE("A picture too narrow for any crop gives the central one") {
  // Bug: after ten tries an empty or outlying crop is returned.
  Random random(1, 2, 3);
  CHECK(random_resized_crop(1, 1000, {}, random) == Crop{0, 499, 1, 1});
  CHECK(random_resized_crop(10, 1000, {}, random).height == 13);  // 10 / (3/4), rounded
  CHECK(random_resized_crop(1000, 10, {}, random) == Crop{493, 0, 13, 10});
  CHECK(random_resized_crop(1, 1, {}, random) == Crop{0, 0, 1, 1});
}

TEST_CASE("The whole picture is the crop when the range says so") {
  // Bug: the ends of the range are exclusive.
  Random random(1, 0, 0);
  CHECK(random_resized_crop(64, 64, {1, 1, 1, 1}, random) == Crop{0, 0, 64, 64});
}

TEST_CASE("The crop depends on the random key alone") {
  // Bug: a hidden generator is shared between threads.
  Random first(1, 2, 3), second(1, 2, 3), other(1, 3, 3);
  const Crop crop = random_resized_crop(500, 375, {}, first);
  CHECK(crop == random_resized_crop(500, 375, {}, second));
  CHECK_FALSE(crop == random_resized_crop(500, 375, {}, other));
}

}  // namespace feedrate::crop_tests
