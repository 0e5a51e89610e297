// SPDX-License-Identifier: Apache-2.0
// Tests of data/file_writer.hpp: files that are whole or absent.
#include "feedrate/data/file_writer.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch_test_macros.hpp>

#include "support.hpp"

namespace feedrate::file_writer_tests {
using namespace feedrate::test;

TEST_CASE("A file is replaced as a whole and no draft stays behind") {
  // Bug: the draft is not renamed, or the shorter text leaves the tail of the longer one.
  const TemporaryFolder folder;
  write_file(folder / "file", Bytes(100, 'a'));
  write_file(folder / "file", Bytes(3, 'b'));
  CHECK(read_bytes(folder / "file") == Bytes(3, 'b'));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("A name as long as the system allows can be written") {
  // Bug: the draft's name is longer, and what touch can create is refused.
  const TemporaryFolder folder;
  const std::string longest(255, 'x');
  write_file(folder / longest, Bytes(3, 'a'));
  CHECK(read_bytes(folder / longest) == Bytes(3, 'a'));
}

TEST_CASE("A file that replaces an open one is as closed as it is asked to be") {
  // Bug: what is for one user alone, written into the file that all could read.
  const TemporaryFolder folder;
  write_file(folder / "file", Bytes(3, 'a'));
  write_file(folder / "file", Bytes(3, 'b'), 0600);
  const auto all_bits = std::filesystem::perms::mask;
  const auto own = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  CHECK((std::filesystem::status(folder / "file").permissions() & all_bits) == own);
}

TEST_CASE("A write that fails half way leaves the old file and nothing else") {
  // Bug: on a full disk a cut file takes the place of the good one. A limit on the size of files
  // stands in for the full disk.
  const TemporaryFolder folder;
  write_file(folder / "file", Bytes(10, 'a'));
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit tight = before;
  tight.rlim_cur = 1000;
  ::setrlimit(RLIMIT_FSIZE, &tight);
  const std::string refusal = error_of([&] { write_file(folder / "file", Bytes(5000, 'b')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK(contains(refusal, "Can't write '" + (folder / "file") + "'"));
  CHECK(read_bytes(folder / "file") == Bytes(10, 'a'));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("Two writers of one file never share a draft") {
  // Bug: two containers with the same process ids, of which one renames what the other writes.
  CHECK(detail::draft_of("file") != detail::draft_of("file"));
  const TemporaryFolder folder;
  write_bytes(folder / "draft", Bytes{1});
  CHECK_FALSE(detail::write_new(folder / "draft", Bytes{2}, 0666));
  std::filesystem::create_symlink(folder / "draft", folder / "link");
  CHECK_FALSE(detail::write_new(folder / "link", Bytes{2}, 0666));
  CHECK(read_bytes(folder / "draft") == Bytes{1});
}

TEST_CASE("A file that is written like another has its permissions") {
  // Bug: a script of mode 0600 that others may read after a change, or 0755 that no longer runs.
  const TemporaryFolder folder;
  for (const mode_t mode : {0600, 0755, 0640}) {
    struct stat like {};
    like.st_mode = S_IFREG | mode;
    like.st_uid = ::getuid();
    like.st_gid = ::getgid();
    write_file(folder / "file", Bytes{1}, 0666, &like);
    struct stat now {};
    REQUIRE(::stat((folder / "file").c_str(), &now) == 0);
    CHECK((now.st_mode & 07777) == mode);
  }
}

TEST_CASE("A place that can't be written to is named") {
  // Bug: the error is swallowed and the caller goes on without a file.
  CHECK(contains(error_of([] { write_file("/nowhere/file", Bytes{1}); }), "/nowhere/file"));
}

}  // namespace feedrate::file_writer_tests
