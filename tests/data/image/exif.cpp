// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/exif.hpp: the orientation tag in either byte order, whole and damaged.
#include "feedrate/data/image/exif.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support.hpp"

namespace feedrate::exif_tests {
using namespace feedrate::test;

namespace {

/// An APP1 payload with two tags, the second of which is the orientation, of 2 bytes or 4.
Bytes make_exif(bool big_endian, int orientation, int size = 2) {
  Bytes bytes = {'E', 'x', 'i', 'f', 0, 0};
  const auto put = [&](std::uint32_t value, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (big_endian ? size - 1 - i : i);
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
    }
  };
  bytes.push_back(big_endian ? 'M' : 'I');
  bytes.push_back(big_endian ? 'M' : 'I');
  put(42, 2), put(8, 4), put(2, 2);
  put(0x010F, 2), put(2, 2), put(4, 4), put(0, 4);
  put(0x0112, 2), put(size == 2 ? 3 : 4, 2), put(1, 4);
  put(static_cast<std::uint32_t>(orientation), size), put(0, 4 - size);
  return bytes;
}

}  // namespace

TEST_CASE("The orientation is read in both byte orders") {
  // Bug: a big-endian value is read as 256 times itself and counts as upright.
  for (int orientation = 1; orientation <= 8; ++orientation) {
    CHECK(exif_orientation(make_exif(false, orientation)) == orientation);
    CHECK(exif_orientation(make_exif(true, orientation)) == orientation);
    CHECK(exif_orientation(make_exif(false, orientation, 4)) == orientation);
    CHECK(exif_orientation(make_exif(true, orientation, 4)) == orientation);
  }
}

TEST_CASE("Values outside of 1 to 8 and other payloads count as upright") {
  // Bug: an orientation of 0 or 9, as some cameras write, indexes out of a table.
  CHECK(exif_orientation(make_exif(false, 0)) == 1);
  CHECK(exif_orientation(make_exif(false, 9)) == 1);
  CHECK(exif_orientation({}) == 1);
  CHECK(exif_orientation(Bytes(40, 'x')) == 1);
}

TEST_CASE("EXIF cut at any byte or with any byte changed is read within its bounds") {
  // Bug: an offset or a count from the file leads outside of it (seen by the sanitizer).
  const Bytes whole = make_exif(true, 6);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const int orientation = exif_orientation(cut);
    CHECK((orientation == 1 || (orientation == 6 && size + 4 > whole.size() - 4)));
    for (const int value : {0x00, 0x7f, 0xff}) {
      Bytes changed = whole;
      changed[size] = static_cast<std::uint8_t>(value);
      const int read = exif_orientation(changed);
      CHECK((read >= 1 && read <= 8));
    }
  }
}

}  // namespace feedrate::exif_tests
