// SPDX-License-Identifier: Apache-2.0
// Tests of machine/storage.hpp and machine/cache_folder.hpp.
#include "feedrate/machine/storage.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "../planted_tree.hpp"
#include "feedrate/machine/cache_folder.hpp"

namespace feedrate::storage_tests {
using test::PlantedTree;

namespace {

/// Plants a mount of `type` that holds the tree itself.
Storage storage_on(PlantedTree& tree, const std::string& type, const std::string& source) {
  tree.plant("/proc/self/mountinfo", "27 1 8:1 / / rw - " + type + " " + source + " rw\n");
  return read_storage(tree.root(), tree.root());
}

}  // namespace

TEST_CASE("a path that doesn't exist is a data error that names it") {
  // Bug: a missing path that is measured as if it were its parent.
  try {
    read_storage("/no/such/folder");
    FAIL("a missing path was accepted");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::data);
    CHECK(std::string(error.what()).find("'/no/such/folder'") != std::string::npos);
  }
}

TEST_CASE("a partition is as rotational as its disk") {
  // Bug: a partition whose disk is not asked, and a disk that spins but is said not to.
  PlantedTree tree;
  tree.plant("/sys/devices/sda/queue/rotational", "1\n").plant("/sys/devices/sda/sda1/size", "9\n");
  tree.plant("/sys/dev/block/x", "");
  std::filesystem::create_directory_symlink("../../devices/sda/sda1",
                                            tree.root() + "/sys/dev/block/8:1");
  const Storage storage = storage_on(tree, "ext4", "/dev/sda1");
  CHECK(storage.file_system == "ext4");
  CHECK(storage.source == "/dev/sda1");
  CHECK(storage.mount_point == "/");
  CHECK(storage.rotational == true);
  tree.plant("/sys/devices/sda/queue/rotational", "0\n");
  CHECK(storage_on(tree, "ext4", "/dev/sda1").rotational == false);
}

TEST_CASE("a disk of a virtual machine is neither said to spin nor not to") {
  // Bug: virtio disks, which all call themselves rotational.
  PlantedTree tree;
  tree.plant("/sys/dev/block/8:1/queue/rotational", "1\n");
  CHECK_FALSE(storage_on(tree, "ext4", "/dev/vda").rotational.has_value());
}

TEST_CASE("file systems in memory and over networks are told apart from disks") {
  // Bug: memory taken for a disk, a network for a local disk, and either the other way round.
  PlantedTree tree;
  CHECK(in_memory(storage_on(tree, "tmpfs", "tmpfs")));
  CHECK(is_remote(storage_on(tree, "nfs4", "server:/x")));
  const Storage disk = storage_on(tree, "xfs", "/dev/sda1");
  CHECK_FALSE(in_memory(disk));
  CHECK_FALSE(is_remote(disk));
  CHECK(disk.free_bytes > 0);
}

TEST_CASE("a cache folder that can be made is writable though it doesn't exist") {
  // Bug: a cache folder that is said to be missing because only it, not its parents, is absent.
  PlantedTree tree;
  const CacheFolder cache = look_at_cache_folder(tree.root() + "/a/b/feedrate");
  CHECK_FALSE(cache.exists);
  CHECK(cache.writable);
  CHECK(cache.free_bytes > 0);
  CHECK_FALSE(std::filesystem::exists(tree.root() + "/a"));
}

TEST_CASE("a cache folder below a file can't be made, and no folder at all has a reason") {
  // Bug: a file where the folder should be, which only shows when the cache is written.
  PlantedTree tree;
  tree.plant("/file", "x");
  const CacheFolder below = look_at_cache_folder(tree.root() + "/file");
  CHECK_FALSE(below.writable);
  CHECK(below.why_not == "'" + tree.root() + "/file' is no folder");
  CHECK_FALSE(look_at_cache_folder(tree.root() + "/file/feedrate").writable);
  CHECK(look_at_cache_folder("").why_not == "neither XDG_CACHE_HOME nor HOME is set");
}

TEST_CASE("the cache folder follows the XDG convention") {
  // Bug: a relative XDG_CACHE_HOME that is used although the specification says to ignore it.
  const char* home = std::getenv("HOME");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const std::string old_home = home ? home : "", old_cache = cache ? cache : "";
  setenv("HOME", "/home/u", 1);
  setenv("XDG_CACHE_HOME", "/big/cache", 1);
  CHECK(cache_folder_path() == "/big/cache/feedrate");
  setenv("XDG_CACHE_HOME", "relative", 1);
  CHECK(cache_folder_path() == "/home/u/.cache/feedrate");
  unsetenv("XDG_CACHE_HOME");
  CHECK(cache_folder_path() == "/home/u/.cache/feedrate");
  unsetenv("HOME");
  CHECK(cache_folder_path() == "");
  if (home) setenv("HOME", old_home.c_str(), 1);
  if (cache) setenv("XDG_CACHE_HOME", old_cache.c_str(), 1);
}

}  // namespace feedrate::storage_tests
