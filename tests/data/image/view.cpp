// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/view.hpp; all orientations are compared with Pillow's in image_decoder.cpp.
#include "feedrate/data/image/view.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace feedrate::view_tests {
using Catch::Matchers::WithinAbs;

TEST_CASE("An axis reversed twice is the axis") {
  // Bug: the start is mirrored but not moved by the extent.
  const ViewAxis axis{10, 50, 12.5, 1.25, 28};
  CHECK(axis.reversed(100) == ViewAxis{50, 90, 52.5, 1.25, 28});
  CHECK(axis.reversed(100).reversed(100) == axis);
}

TEST_CASE("A shrunk axis covers the old one and stays within the shrunk picture") {
  // Bug: the last, partial pixel is cut off, or one too many is asked for.
  const ViewAxis axis{3, 101, 3, 4.9, 20};
  const ViewAxis half = axis.shrunk(2, 51);
  CHECK((half.low == 1 && half.high == 51));
  CHECK_THAT(half.start, WithinAbs(1.5, 1e-12));
  CHECK_THAT(half.scale, WithinAbs(2.45, 1e-12));
}

TEST_CASE("The centre view is torchvision's Resize(256) and CenterCrop(224)") {
  // Bug: the longer side is rounded instead of cut, or the margin is cut instead of rounded.
  // 500 x 375: resized to 341 x 256, margins round(117 / 2) = 58 (half to even) and 16.
  const View view = central_view(500, 375, 256, 224);
  CHECK_THAT(view.x.start, WithinAbs(58 * 500.0 / 341, 1e-9));
  CHECK_THAT(view.y.start, WithinAbs(16 * 375.0 / 256, 1e-9));
  CHECK_THAT(view.x.scale, WithinAbs(500.0 / 341, 1e-12));
  CHECK((view.x.low == 0 && view.x.high == 500 && view.x.count == 224));
}

TEST_CASE("A mirror image of a turned picture is mirrored along the stored rows") {
  // Bug: the flip is applied to stored columns, and turned pictures stand on their heads.
  const View view = view_of({0, 0, 10, 20}, 8, true);
  const StoredView turned = stored_view(view, 5, 20, 10);
  CHECK((turned.transpose && turned.mirror_rows && !turned.mirror_columns));
  const StoredView upright = stored_view(view, 1, 10, 20);
  CHECK((!upright.transpose && !upright.mirror_rows && upright.mirror_columns));
}

}  // namespace feedrate::view_tests
