// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/cmyk.hpp; whole files are compared with Pillow's in image_decoder.cpp.
#include "feedrate/data/image/cmyk.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace feedrate::cmyk_tests {

TEST_CASE("Products of levels are divided by 255 and rounded exactly") {
  // Bug: the shift that replaces the division is off by one for some pairs.
  int wrong = 0;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) wrong += detail::scale_255(a, b) != std::lround(a * b / 255.0);
  }
  CHECK(wrong == 0);
}

TEST_CASE("No ink is white, full black is black, and full cyan takes the red") {
  // Bug: the inversion is applied to the colours but not to black, or not at all.
  std::uint8_t pixels[12] = {255, 255, 255, 255, 255, 255, 255, 0, 0, 255, 255, 255};
  detail::cmyk_to_rgbx(pixels, 3);
  CHECK((pixels[0] == 255 && pixels[1] == 255 && pixels[2] == 255));
  CHECK((pixels[4] == 0 && pixels[5] == 0 && pixels[6] == 0));
  CHECK((pixels[8] == 0 && pixels[9] == 255 && pixels[10] == 255));
}

}  // namespace feedrate::cmyk_tests
