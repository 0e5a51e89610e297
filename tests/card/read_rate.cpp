// SPDX-License-Identifier: Apache-2.0
// Tests of card/probe_file.hpp and card/read_rate.hpp.
#include "feedrate/card/read_rate.hpp"

#include <dirent.h>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "../planted_tree.hpp"

namespace feedrate::read_rate_tests {
using test::PlantedTree;

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr ReadProbe small = {.bytes = 3 * mib, .write_s = 10, .time = {.rounds = 1, .round_s = 10}};

bool is_empty(const std::string& folder) {
  return std::filesystem::directory_iterator(folder) == std::filesystem::directory_iterator();
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("the probe file leaves neither a name nor a descriptor, even while it exists") {
  // Bug: a probe file that is left behind, by name or by descriptor.
  PlantedTree tree;
  const std::size_t before = open_descriptors();
  {
    ProbeFile file = ProbeFile::at(tree.root(), mib, 10, SteadyClock{});
    CHECK(file.bytes() == mib);
    CHECK(is_empty(tree.root()));
    CHECK(file.read_at(0) == mib);
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("writing stops when its time is over, with what there is") {
  // Bug: a write that goes on although its time is over: on slow storage, for minutes.
  struct Slow {
    mutable double now = 0;
    double now_s() const noexcept { return now += 0.6; }
  };
  PlantedTree tree;
  const ProbeFile file = ProbeFile::at(tree.root(), 100 * mib, 1.0, Slow{});
  CHECK(file.bytes() == ProbeFile::stretch_bytes);
}

TEST_CASE("unreadable values are described in a phrase") {
  // Bug: a rate of zero or a throw where folder or file can't be used: a value is wanted.
  PlantedTree tree;
  tree.plant("/empty", "");
  for (const std::string& path :
       {tree.root() + "/none", tree.root() + "/empty", std::string("/proc")}) {
    const ReadRate rate = probe_read(path, small);
    CHECK_FALSE(rate.cold.known());
    CHECK_FALSE(rate.cached.known());
    CHECK(rate.cold.why_not != "");
  }
}

TEST_CASE("a file is read as it is and stays as it was") {
  // Bug: a user's file that is written to, or read past its end.
  PlantedTree tree;
  const std::string text(5000, 'x');
  tree.plant("/data", text);
  const ReadRate rate = probe_read(tree.root() + "/data", small);
  CHECK(rate.bytes == 5000);
  CHECK(rate.cached.known());
  CHECK(read_text(tree.root() + "/data") == text);
}

TEST_CASE("in memory there is no cold rate, only a cached one, and the reason is told") {
  // Bug: a cold rate that was read from memory.
  if (read_storage("/dev").free_bytes == 0 && !std::filesystem::exists("/dev/shm"))
    SKIP("no /dev/shm");
  if (!in_memory(read_storage("/dev/shm"))) SKIP("/dev/shm is not in memory here");
  const ReadRate rate = probe_read("/dev/shm", small);
  CHECK_FALSE(rate.cold.known());
  CHECK(rate.cold.why_not == "the page cache could not be dropped or looked into");
  CHECK(rate.cached.known());
  CHECK(rate.bytes == 3 * mib);
}

TEST_CASE("a stretch of reading ends at its bytes or its time, whichever comes first") {
  // Bug: rounds of the cached rate that go on into pages which the warm-up never reached.
  struct Step {
    mutable double now = 0;
    double now_s() const noexcept { return now += 1; }
  };
  PlantedTree tree;
  ProbeFile file = ProbeFile::at(tree.root(), 12 * mib, 1e9, SteadyClock{});
  CHECK(detail::read_once(file, 12 * mib, 1.5, Step{}).bytes == 8 * mib);
  CHECK(detail::read_once(file, 4 * mib, 100, Step{}).bytes == 4 * mib);
}

}  // namespace feedrate::read_rate_tests
