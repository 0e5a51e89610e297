// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/augment.hpp.
#include "feedrate/data/image/augment.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support.hpp"

namespace feedrate::augment_tests {
using namespace feedrate::test;

TEST_CASE("Invalid options are an error with one sentence") {
  // Bug: a size of 0, or a crop of negative area, ends in a division by zero.
  const auto refusal = [](auto change) {
    ImageOptions options;
    change(options);
    return error_of([&] { check(options); }, Fault::usage);
  };
  CHECK(refusal([](ImageOptions&) {}).empty());
  CHECK(contains(refusal([](ImageOptions& o) { o.size = 0; }), "image size"));
  CHECK(contains(refusal([](ImageOptions& o) { o.resize = 200; }), "shorter side"));
  CHECK(contains(refusal([](ImageOptions& o) { o.format.dtype = DType::i64; }), "f32 or u8"));
  CHECK(contains(refusal([](ImageOptions& o) { o.crop.area_low = 0; }), "area"));
  CHECK(contains(refusal([](ImageOptions& o) { o.crop.aspect_low = 2; }), "aspect"));
}

TEST_CASE("Half of the training samples are mirrored, none of evaluation's") {
  // Bug: the flip shares its random number with the crop and follows it.
  ImageOptions options;
  int flips = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    Random random(1, 0, i);
    flips += choose_view(500, 375, options, random).flip;
  }
  CHECK(flips > 1850);  // 2000 +- 5 standard deviations of 31.6
  CHECK(flips < 2150);
  options.transform = Transform::evaluate;
  Random random(1, 0, 0);
  CHECK_FALSE(choose_view(500, 375, options, random).flip);
}

TEST_CASE("A stretched picture is seen whole, and mirrored as often as asked") {
  // Bug: the crop of training, or a mirror image where none is asked for.
  ImageOptions options;
  options.size = 100;
  options.transform = Transform::stretch;
  options.flip = 0;
  Random random(1, 0, 0);
  const View view = choose_view(500, 375, options, random);
  CHECK(view.x == ViewAxis{0, 500, 0, 5, 100});
  CHECK(view.y == ViewAxis{0, 375, 0, 3.75, 100});
  CHECK_FALSE(view.flip);
  options.flip = 1;
  CHECK(choose_view(500, 375, options, random).flip);
}

TEST_CASE("The decoder shrinks by powers of two and never below the sample's size") {
  // Bug: the larger scale decides, and the sample is enlarged again.
  const auto shrink = [](int width, int height) {
    const View view = view_of({0, 0, width, height}, 100, false);
    return shrink_of({view.x, view.y});
  };
  CHECK(shrink(199, 1000) == 1);
  CHECK(shrink(200, 1000) == 2);
  CHECK(shrink(400, 799) == 4);
  CHECK(shrink(5000, 5000) == 8);
  CHECK(shrink(50, 50) == 1);
}

}  // namespace feedrate::augment_tests
