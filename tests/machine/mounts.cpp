// SPDX-License-Identifier: Apache-2.0
// Tests of machine/mounts.hpp.
#include "feedrate/machine/mounts.hpp"

#include <catch2/catch_test_macros.hpp>

#include "../planted_tree.hpp"

namespace feedrate::mounts_tests {

namespace {

constexpr const char* mountinfo =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
    "25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw,size=65536k,mode=1777\n"
    "40 27 8:17 /sub /data rw shared:1 master:2 - xfs /dev/sdb1 rw\n"
    "41 27 0:50 / /my\\040disk\\134x rw - nfs4 server:/ex\\040port rw,vers=4.2\n"
    "42 27 0:51 / /data rw - tmpfs none rw\n"
    "a broken line\n"
    "43 27 0:52 / /cut rw - ext4\n";

std::vector<Mount> planted_mounts() {
  test::PlantedTree tree;
  tree.plant("/proc/self/mountinfo", mountinfo);
  return read_mounts(tree.root());
}

}  // namespace

TEST_CASE("mounts are read with any number of optional fields, and broken lines are left out") {
  // Bug: a parser that counts on a fixed number of optional fields, or falls over broken lines.
  const auto mounts = planted_mounts();
  REQUIRE(mounts.size() == 5);
  CHECK(mounts[0].type == "ext4");
  CHECK(mounts[2].device == "8:17");
  CHECK(mounts[2].root == "/sub");
  CHECK(mounts[2].source == "/dev/sdb1");
}

TEST_CASE("octal escapes in mount points are undone") {
  // Bug: a mount point with a blank in it that is cut, or whose escape is kept.
  const auto mounts = planted_mounts();
  CHECK(mounts[3].point == "/my disk\\x");
  CHECK(mounts[3].source == "server:/ex port");
}

TEST_CASE("a path lies on the longest mount point above it, and the latest on the same point") {
  // Bug: "/database" taken to lie within "/data", and a hidden mount that is found.
  const auto mounts = planted_mounts();
  CHECK(mount_of(mounts, "/data/x/y")->type == "tmpfs");
  CHECK(mount_of(mounts, "/data")->type == "tmpfs");
  CHECK(mount_of(mounts, "/database")->type == "ext4");
  CHECK(mount_of(mounts, "/dev/shm/x")->type == "tmpfs");
  CHECK(mount_of({}, "/data") == nullptr);
}

TEST_CASE("an option is found by its whole name") {
  // Bug: an option found inside the name of another one.
  const auto mounts = planted_mounts();
  CHECK(option_of(mounts[1], "size") == "65536k");
  CHECK(option_of(mounts[1], "ize") == "");
  CHECK(option_of(mounts[0], "size") == "");
}

}  // namespace feedrate::mounts_tests
