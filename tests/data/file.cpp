// SPDX-License-Identifier: Apache-2.0
// Tests of data/file.hpp: whole files read into memory that is used again.
#include "feedrate/data/file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "support.hpp"

namespace feedrate::file_tests {
using namespace feedrate::test;

TEST_CASE("A file's bytes are those that were written, after a longer and after a shorter one") {
  // Bug: the size of the buffer, grown by an earlier file, is taken for the size of this one.
  const TemporaryFolder folder;
  Bytes buffer;
  for (const std::size_t size : {5u, 70000u, 0u, 3u}) {
    const Bytes bytes(size, static_cast<std::uint8_t>(size));
    write_bytes(folder / "file", bytes);
    const auto read = read_file(folder / "file", buffer);
    CHECK(Bytes(read.begin(), read.end()) == bytes);
  }
}

TEST_CASE("What is no regular file is refused by name and kind, without waiting") {
  // Bug: opening a pipe that nobody writes to blocks for ever.
  const TemporaryFolder folder;
  Bytes buffer;
  REQUIRE(::mkfifo((folder / "pipe.jpg").c_str(), 0600) == 0);
  std::filesystem::create_directory(folder / "folder.jpg");
  std::filesystem::create_symlink("nowhere", folder / "link.jpg");
  const auto refusal = [&](const std::string& name) {
    return error_of([&] { read_file(folder / name, buffer); });
  };
  CHECK(contains(refusal("pipe.jpg"), "pipe.jpg' is a pipe"));
  CHECK(contains(refusal("folder.jpg"), "folder.jpg' is a directory"));
  CHECK(contains(refusal("link.jpg"), "No such file"));
  CHECK(contains(refusal("missing.jpg"), "missing.jpg': No such file"));
}

TEST_CASE("A file without permission is refused by name") {
  // Bug: the failed open is taken for an empty file.
  const TemporaryFolder folder;
  write_bytes(folder / "secret", Bytes{1});
  std::filesystem::permissions(folder / "secret", std::filesystem::perms::none);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  const uid_t user = ::geteuid();
  if (user == 0) REQUIRE(::seteuid(65534) == 0);
  Bytes buffer;
  const std::string refusal = error_of([&] { read_file(folder / "secret", buffer); });
  if (user == 0) REQUIRE(::seteuid(0) == 0);
  CHECK(contains(refusal, "secret': Permission denied"));
}

TEST_CASE("A file longer than allowed is refused before memory is taken for it") {
  // Bug: a sparse file of a terabyte ends the process.
  const TemporaryFolder folder;
  write_bytes(folder / "huge", Bytes{1});
  std::filesystem::resize_file(folder / "huge", std::uintmax_t{1} << 40);
  Bytes buffer;
  CHECK(contains(error_of([&] { read_file(folder / "huge", buffer); }), "1099511627776 bytes"));
  CHECK(buffer.empty());
}

TEST_CASE("A file can be brought into the page cache and dropped from it") {
  // Bug: a missing file ends the warming of a whole dataset.
  const TemporaryFolder folder;
  write_bytes(folder / "file", Bytes(70000, 1));
  CHECK(touch_file(folder / "file") == 70000);
  CHECK(evict_file(folder / "file"));
  CHECK(evict_file(folder / "file", 4096, 100));
  CHECK(touch_file(folder / "file") == 70000);
  CHECK(touch_file(folder / "missing") == 0);
  CHECK_FALSE(evict_file(folder / "missing"));
}

}  // namespace feedrate::file_tests
