// SPDX-License-Identifier: Apache-2.0
#include "feedrate/load/worker_pool.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "datasets.hpp"

namespace feedrate::worker_pool_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::Gate;
using testing::Numbers;

TEST_CASE("A stuck worker is named, and once it goes on nothing is lost", "[worker_pool]") {
  // Bug: a wait without an end when a dataset blocks.
  const auto gate = std::make_shared<Gate>();
  const auto block = [gate](std::size_t i) {
    if (i == 5) gate->wait();
  };
  Loader loader(Numbers{16, block},
                {.batch = 8, .workers = 2, .order = {.shuffle = false}, .stall_s = 0.1});
  gate->await(1);
  CHECK_THROWS_WITH(loader.next(), ContainsSubstring("is still loading sample 5 (number-5)"));
  gate->open();
  CHECK(loader.next()->get<std::int32_t>("label")[5] == 5);
}

TEST_CASE("A restart waits as long as samples are being finished", "[worker_pool]") {
  // Bug: "No sample was finished", of a run of slow samples of which one was finished every 20 ms.
  const auto slow = [](std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  Loader loader(Numbers{512, slow}, {.batch = 64, .workers = 2, .run_length = 32, .stall_s = 0.5});
  CHECK_NOTHROW(loader.restart({.epoch = 1}));
}

TEST_CASE("A worker that is stuck at destruction is left behind and counted", "[worker_pool]") {
  // Bug: a destructor that waits for ever, or frees what a stuck thread still writes to.
  const auto gate = std::make_shared<Gate>();
  const auto left = std::make_shared<std::atomic<int>>(0);
  const auto block = [gate, left](std::size_t) {
    gate->wait();
    left->fetch_add(1);
  };
  const int before = Loader::abandoned();
  {
    Loader loader(Numbers{16, block}, {.batch = 8, .workers = 2, .stall_s = 0.1});
    gate->await(2);
  }
  CHECK(Loader::abandoned() == before + 2);
  gate->open();
  while (left->load() < 2) std::this_thread::yield();
}

TEST_CASE("A worker in the midst of a long run ends with its sample", "[worker_pool]") {
  // Bug: a destructor that waits for whole runs, and leaves threads behind that were at work.
  using namespace std::chrono_literals;
  const int abandoned = Loader::abandoned();
  std::atomic<int> read{0};
  {
    const Loader loader(
        Numbers{2000, [&](std::size_t) { ++read, std::this_thread::sleep_for(2ms); }},
        {.batch = 2000, .workers = 2, .run_length = 1000});
    while (read == 0) std::this_thread::yield();
  }
  CHECK(Loader::abandoned() == abandoned);
  CHECK(read < 2000);
}

TEST_CASE("A worker pool starts and stops two hundred times", "[worker_pool]") {
  // Bug: parked workers that are not woken by a larger or smaller pool.
  for (int cycle = 0; cycle < 200; ++cycle) {
    Loader loader(Numbers{64}, {.batch = 4, .workers = cycle % 9, .prefetch = 1 + cycle % 3});
    for (int b = 0; b < cycle % 7; ++b) CHECK(loader.next());
    loader.resize((cycle * 5) % 9);
    CHECK(loader.next());
  }
}

TEST_CASE("A resize does not wait for a worker that is loading", "[worker_pool]") {
  // Bug: a resize or a destructor that waits for a slow sample.
  const auto gate = std::make_shared<Gate>();
  Loader loader(Numbers{16, [gate](std::size_t) { gate->wait(); }}, {.batch = 8, .workers = 2});
  gate->await(2);
  loader.resize(0);
  loader.resize(3);
  CHECK(loader.workers() == 3);
  gate->open();
  CHECK(loader.next()->count() == 8);
}

}  // namespace
}  // namespace feedrate::worker_pool_tests
