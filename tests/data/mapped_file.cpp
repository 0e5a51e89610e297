// SPDX-License-Identifier: Apache-2.0
// Tests of data/mapped_file.hpp.
#include "feedrate/data/mapped_file.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support.hpp"

namespace feedrate::mapped_file_tests {
using namespace feedrate::test;

TEST_CASE("A mapped file shows the bytes of the file, and still does after a move") {
  // Bug: the moved-from object unmaps what the new one shows.
  const TemporaryFolder folder;
  write_bytes(folder / "file", Bytes{1, 2, 3});
  MappedFile first(folder / "file");
  MappedFile second(std::move(first));
  MappedFile third;
  third = std::move(second);
  CHECK(Bytes(third.bytes().begin(), third.bytes().end()) == Bytes{1, 2, 3});
  CHECK(second.bytes().empty());
}

TEST_CASE("An empty file maps to no bytes, a missing one is refused by name") {
  // Bug: mmap refuses a length of zero, and that passes for an unreadable file.
  const TemporaryFolder folder;
  write_bytes(folder / "empty", {});
  CHECK(MappedFile(folder / "empty").bytes().empty());
  CHECK(contains(error_of([&] { MappedFile(folder / "gone"); }), "gone': No such file"));
}

}  // namespace feedrate::mapped_file_tests
