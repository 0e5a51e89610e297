// SPDX-License-Identifier: Apache-2.0
#include "feedrate/load/health.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "datasets.hpp"

namespace feedrate::health_tests {
namespace {

using Catch::Approx;
using testing::Numbers;

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

/// Two workers whose books the test keeps.
struct Bed {
  std::vector<std::unique_ptr<Worker>> workers;
  LoaderCounters counters;
  HealthMeter meter{100};

  Bed() {
    for (int w = 0; w < 2; ++w) workers.push_back(std::make_unique<Worker>(w));
  }
  Health read(double now_s, int active = 2) { return meter.read(now_s, counters, workers, active); }
};

TEST_CASE("A fed consumer is the limit, and idle time of workers is the headroom", "[health]") {
  // Bug: a headroom of the wrong sign, or of all workers together. Two workers filled 3 and 5 of
  // 10 s: they could do 20 / 8 as much.
  Bed bed;
  bed.workers[0]->fill_s = 3;
  bed.workers[1]->fill_s = 5;
  bed.counters.wait_s = 0.3;
  bed.counters.samples = 640;
  const Health health = bed.read(110);
  CHECK(health.fed() == Approx(0.97));
  CHECK(health.samples == 640);
  CHECK(*health.headroom == Approx(2.5));
  CHECK(health.limit == FeedLimit::consumer);
  CHECK(health.text() == "fed 97 %: waited 3 % of 10 s; the loader could go 2.5x faster");
}

TEST_CASE("A reading covers only the time since the last one", "[health]") {
  // Bug: totals since the loader was made, which hide that it starves by now.
  Bed bed;
  bed.workers[0]->fill_s = bed.workers[1]->fill_s = 1;
  CHECK(bed.read(110).limit == FeedLimit::consumer);
  bed.workers[0]->fill_s = bed.workers[1]->fill_s = 5.9;
  bed.counters.wait_s = 3;
  const Health health = bed.read(115);
  CHECK(health.elapsed_s == Approx(5));
  CHECK(health.fed() == Approx(0.4));
  CHECK(health.limit == FeedLimit::workers);
  CHECK(health.text() == "fed 40 %: waited 60 % of 5 s; 2 workers are at the limit");
}

TEST_CASE("A worker in the middle of a slow sample counts as busy", "[health]") {
  // Bug: a loader that looks idle because its only sample is not done yet.
  Bed bed;
  for (auto& worker : bed.workers) worker->loading = 8;
  bed.counters.wait_s = 10;
  const Health health = bed.read(110);
  CHECK(health.fed() == Approx(0).margin(1e-9));
  CHECK(*health.headroom == Approx(1));
  CHECK(health.limit == FeedLimit::workers);
}

TEST_CASE("Waiting beside workers that rest asks for more batches ahead", "[health]") {
  // Bug: bursts that are taken for a loader that is too slow: more workers would not help.
  Bed bed;
  bed.workers[0]->fill_s = bed.workers[1]->fill_s = 5;
  bed.counters.wait_s = 2;
  const Health health = bed.read(110);
  CHECK(health.limit == FeedLimit::prefetch);
  CHECK(health.text() ==
        "fed 80 %: waited 20 % of 10 s; the loader could go 2.0x faster with more batches ahead");
}

TEST_CASE("Without workers the caller's loading is waiting", "[health]") {
  // Bug: a loader without workers that calls itself perfect because next() never sleeps.
  Bed bed;
  bed.counters.caller_fill_s = 6;
  const Health health = bed.read(110, 0);
  CHECK(health.fed() == Approx(0.4));
  CHECK_FALSE(health.headroom);
  CHECK(health.text() ==
        "fed 40 %: waited 60 % of 10 s; there are no workers, so the caller loads");
}

TEST_CASE("A slow consumer of a real loader is fed, with headroom", "[health]") {
  // Bug: counters that are read too early or of the wrong thread. Samples cost next to nothing and
  // each batch is trained on for 10 ms: the true headroom is in the hundreds.
  Loader loader(Numbers{1000}, {.batch = 4, .workers = 1, .prefetch = 4});
  loader.next();
  loader.health();
  for (int b = 0; b < 10; ++b) {
    const auto batch = loader.next();
    sleep_ms(10);
  }
  const Health health = loader.health();
  CHECK(health.fed() > 0.5);
  CHECK(health.samples == 40);
  CHECK(health.headroom.value_or(0) > 3);
}

TEST_CASE("A slow dataset in a real loader starves its consumer", "[health]") {
  // Bug: waiting that is not seen. Each sample takes 2 ms and the consumer nothing: it waits all
  // the time. Who else is slow then depends on what threads get of a busy machine; the tests with
  // books of their own tell workers and prefetch apart.
  Loader loader(Numbers{1000, [](std::size_t) { sleep_ms(2); }},
                {.batch = 4, .workers = 1, .prefetch = 1});
  for (int b = 0; b < 10; ++b) loader.next();
  const Health health = loader.health();
  CHECK(health.fed() < 0.5);
  CHECK(health.limit != FeedLimit::consumer);
  loader.resize(0);
  loader.health();
  for (int b = 0; b < 4; ++b) loader.next();
  CHECK(loader.health().limit == FeedLimit::caller);
}

}  // namespace
}  // namespace feedrate::health_tests
