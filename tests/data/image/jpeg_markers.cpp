// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/jpeg_markers.hpp.
#include "feedrate/data/image/jpeg_markers.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support.hpp"

namespace feedrate::jpeg_markers_tests {
using namespace feedrate::test;

TEST_CASE("The walk ends at the first scan of a real file") {
  // Bug: segment lengths include their own two bytes, and the walk drifts off.
  const Bytes file = make_jpeg({});
  const auto markers = detail::read_jpeg_markers(file);
  REQUIRE(markers.first_scan + 2 < file.size());
  CHECK(file[markers.first_scan] == 0xFF);
  CHECK(file[markers.first_scan + 1] == 0xDA);
  CHECK(detail::count_jpeg_scans(file, markers.first_scan) == 1);
  CHECK(detail::has_jpeg_end(file, markers.first_scan));
}

TEST_CASE("A progressive file has as many scans as libjpeg's script gives it") {
  // Bug: stuffed bytes or the first scan are counted wrongly; the standard script has 10.
  Making making;
  making.progressive = true;
  const Bytes file = make_jpeg(making);
  CHECK(detail::count_jpeg_scans(file, detail::read_jpeg_markers(file).first_scan) == 10);
}

TEST_CASE("Bytes after the end marker do no harm, and a cut leaves no end marker") {
  // Bug: cameras that append a second picture look cut; or a cut file looks whole.
  Bytes file = make_jpeg({});
  const std::size_t scan = detail::read_jpeg_markers(file).first_scan;
  for (std::size_t size = scan; size + 1 < file.size(); ++size) {
    CHECK_FALSE(detail::has_jpeg_end(std::span(file).first(size), scan));
  }
  file.insert(file.end(), 100, 0);
  CHECK(detail::has_jpeg_end(file, scan));
}

TEST_CASE("The markers of a file cut at any byte are read within its bounds") {
  // Bug: a segment's length leads outside of the file (seen by the sanitizer).
  const Bytes file = read_bytes(fixture("images/orientation_6.jpg"));
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    const auto markers = detail::read_jpeg_markers(cut);
    CHECK(markers.first_scan <= size);
    CHECK((markers.orientation == 1 || markers.orientation == 6));
  }
  CHECK(detail::read_jpeg_markers(file).orientation == 6);
}

}  // namespace feedrate::jpeg_markers_tests
