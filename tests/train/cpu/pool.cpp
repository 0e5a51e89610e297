// SPDX-License-Identifier: Apache-2.0
// Tests of the fork-join thread pool.
#include "feedrate/train/cpu/pool.hpp"

#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using feedrate::Error;
using feedrate::Pool;

TEST_CASE("A pool runs each part of a job exactly once, for any number of threads and parts") {
  // Bug: a worker that wakes late claims a part of the next job, or a part is run twice.
  for (int threads : {1, 2, 3, 5}) {
    Pool pool(threads);
    for (std::size_t parts = 0; parts < 40; ++parts) {
      std::vector<int> runs(parts);
      pool.parallel_for(parts, [&](std::size_t part) { ++runs[part]; });
      REQUIRE(runs == std::vector<int>(parts, 1));
    }
  }
}

TEST_CASE("What the parts of a job wrote is visible to the caller and to the next job") {
  // Bug: a missing release or acquire between workers and caller; ThreadSanitizer sees it here.
  Pool pool(3);
  std::array<long, 3> sums{};
  for (int round = 0; round < 3000; ++round) {
    pool.parallel_for(3, [&](std::size_t part) { sums[(part + 1) % 3] += 1; });
    pool.parallel_for(1, [&](std::size_t) { sums[0] += sums[1] - sums[2]; });
  }
  REQUIRE(sums == std::array<long, 3>{3000, 3000, 3000});
}

TEST_CASE("An exception in a part reaches the caller after all other parts have ended") {
  // Bug: the exception ends the worker, is lost, or is thrown while others still use the job.
  Pool pool(2);
  std::atomic<int> ended{0};
  const auto job = [&](std::size_t part) {
    if (part % 2 == 1) throw std::runtime_error("part " + std::to_string(part));
    ++ended;
  };
  REQUIRE_THROWS_AS(pool.parallel_for(6, job), std::runtime_error);
  REQUIRE(ended == 3);
  pool.parallel_for(4, [&](std::size_t) { ++ended; });
  REQUIRE(ended == 7);
}

TEST_CASE("A pool can be resized between jobs, up and down") {
  // Bug: a stopped worker is not joined, or a new one runs a part of an old job.
  Pool pool(1);
  for (int threads : {2, 4, 1, 3, 3, 1}) {
    pool.resize(threads);
    REQUIRE(pool.threads() == threads);
    std::atomic<int> runs{0};
    pool.parallel_for(16, [&](std::size_t) { ++runs; });
    REQUIRE(runs == 16);
  }
}

TEST_CASE("The threads of a pool work at the same time") {
  // Bug: all parts run on the caller. Each part waits for the other, so that would never end.
  Pool pool(2);
  std::atomic<int> arrived{0};
  pool.parallel_for(2, [&](std::size_t) {
    ++arrived;
    while (arrived != 2) std::this_thread::yield();
  });
  REQUIRE(arrived == 2);
}

TEST_CASE("A pool refuses fewer than one thread and more parts than it can count") {
  // Bug: parts beyond 16 bits would wrap round and never run.
  REQUIRE_THROWS_AS(Pool(0), Error);
  Pool pool(1);
  REQUIRE_THROWS_AS(pool.parallel_for(Pool::max_parts + 1, [](std::size_t) {}), Error);
}
