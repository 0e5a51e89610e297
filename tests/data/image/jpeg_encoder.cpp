// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/jpeg_encoder.hpp.
#include "feedrate/data/image/jpeg_encoder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

#include "feedrate/data/image/jpeg.hpp"
#include "support.hpp"

namespace feedrate::jpeg_encoder_tests {
using namespace feedrate::test;

TEST_CASE("What is encoded decodes to nearly the same, twice with one encoder") {
  // Bug: rows are read with the wrong stride, or the second picture holds the first.
  JpegEncoder encoder;
  JpegDecoder decoder;
  for (const int luma : {60, 190}) {
    Bytes ycc;
    for (int i = 0; i < 40 * 24; ++i) {
      ycc.insert(ycc.end(), {static_cast<std::uint8_t>(luma + i % 40), 128, 128});
    }
    const JpegHeader header = decoder.open(encoder.encode(ycc, 40, 24, 90), "made");
    CHECK((header.width == 40 && header.height == 24 && header.components == 3));
    decoder.start({0, 0, 40, 24});
    Bytes row(4 * 64);
    for (int y = 0; y < 24; ++y) {
      decoder.read_row(row.data());
      for (int x = 0; x < 40; ++x) REQUIRE(std::abs(row[4u * x + 1] - (luma + x)) <= 4);
    }
  }
}

TEST_CASE("A picture that JPEG can't hold is refused and the encoder lives on") {
  // Bug: libjpeg's error ends the process.
  JpegEncoder encoder;
  const Bytes ycc(3 * 8 * 8, 128);
  CHECK(contains(error_of([&] { encoder.encode(ycc, 70000, 1, 90); }, Fault::internal),
                 "can't be encoded"));
  CHECK_FALSE(encoder.encode(ycc, 8, 8, 90).empty());
}

}  // namespace feedrate::jpeg_encoder_tests
