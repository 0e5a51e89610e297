// SPDX-License-Identifier: Apache-2.0
#include "feedrate/measure/round.hpp"

#include <atomic>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "feedrate/measure/trial.hpp"

namespace feedrate::round_tests {
namespace {

using Catch::Approx;

struct FakeBatch {
  std::size_t size = 10;
  std::size_t count() const { return size; }
};

/// A feed whose batches take a known time, and whose ring has a known level.
struct FakeFeed {
  FakeClock* clock;
  double wait_s = 0.02;
  int batches = 1000;
  int drained = 0;  ///< batches that lie ready at first and are used up one by one
  int taken = 0;

  std::optional<FakeBatch> next() {
    if (taken == batches) return std::nullopt;
    if (taken++ >= drained) clock->advance_s(wait_s);
    return FakeBatch{};
  }
  int ready() const { return std::max(0, drained - taken); }
};

TEST_CASE("The clock of a round starts behind the first step", "[round]") {
  // Bug: a clock that includes the first step, and so the filling of the pipeline.
  FakeClock clock;
  FakeFeed feed{&clock};
  int steps = 0;
  const auto step = [&](const FakeBatch&) { clock.advance_s(steps++ == 0 ? 5.0 : 0.03); };
  const Round round = run_round(feed, step, {.seconds = 0.19}, clock);
  CHECK(round.first_batch_s == Approx(0.02));
  CHECK(round.batches == 4);
  CHECK(round.duration_s == Approx(4 * 0.05));
  CHECK(round.wait_s == Approx(4 * 0.02));
  CHECK(round.step_s == Approx(4 * 0.03));
  CHECK(round.busy() == Approx(0.6));
  CHECK(round.samples_per_s() == Approx(10 / 0.05));
}

TEST_CASE("Filling and the first step count as progress, like each batch after them", "[round]") {
  // Bug: a first step that is taken for a hang, because only what follows it is counted.
  FakeClock clock;
  FakeFeed feed{&clock};
  std::atomic<std::uint64_t> progress{0};
  std::vector<std::uint64_t> seen;
  const auto step = [&](const FakeBatch&) { seen.push_back(progress); };
  run_round(feed, step, {.seconds = 0, .progress = &progress}, clock);
  CHECK(seen == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK(progress == 5);
}

TEST_CASE("A round has at least three batches however short its time", "[round]") {
  // Bug: a round of one long batch, which says nothing of how batches follow each other.
  FakeClock clock;
  FakeFeed feed{&clock};
  const Round round = run_round(
      feed, [&](const FakeBatch&) { clock.advance_s(1); }, {.seconds = 0.1}, clock);
  CHECK(round.batches == 3);
}

TEST_CASE("A round in which the ring drains is extended until that matters no more", "[round]") {
  // Bug: a prefetched buffer that flatters a short round. 20 ready batches at 1 ms, then 21 ms
  // each: 50 ms alone would show 10 / 0.001 samples/s. The change of the ring, 19, must be within
  // 5 % of the batches, so the round goes on to 380 of them.
  FakeClock clock;
  FakeFeed feed{&clock, 0.02, 1000, 20};
  const auto step = [&](const FakeBatch&) { clock.advance_s(0.001); };
  const Round round = run_round(feed, step, {.seconds = 0.05}, clock);
  CHECK(round.ring_at_start == 19);
  CHECK(round.batches == 380);
  CHECK(round.samples_per_s() < 1.1 * 10 / 0.021);

  FakeFeed again{&clock, 0.02, 1000, 20};
  CHECK(run_round(again, step, {.seconds = 0.05, .max_seconds = 0.5}, clock).duration_s < 0.53);
}

TEST_CASE("A round whose data end, or that is aborted, ends in a sentence", "[round]") {
  // Bug: a hang, or a rate of nothing, where the data end.
  FakeClock clock;
  FakeFeed feed{&clock, 0.02, 2};
  const auto step = [&](const FakeBatch&) { clock.advance_s(0.01); };
  CHECK_THROWS_AS(run_round(feed, step, {}, clock), Error);
  const std::atomic<bool> abort{true};
  FakeFeed plenty{&clock};
  CHECK_THROWS_AS(run_round(plenty, step, {.abort = &abort}, clock), Error);
}

TEST_CASE("Fed and interference relate a trial to its ceilings", "[trial]") {
  // Bug: the lowest ceiling taken without the cores that loader and step share.
  Trial trial;
  CHECK_FALSE(trial.fed());
  trial.config.workers = 2;
  for (int i = 0; i < 2; ++i)
    trial.rounds.push_back({.duration_s = 1, .samples = 80, .step_s = 0.5});
  trial.ceilings = Ceilings{.loader = 200, .copy = {}, .device = 400, .cores = 160};
  CHECK(*trial.fed() == Approx(0.2));
  CHECK(*trial.interference() == Approx(2.0));
  trial.ceilings->copy = 100;
  CHECK(*trial.interference() == Approx(1.25));
  CHECK(trial.busy() == Approx(0.5));
}

}  // namespace
}  // namespace feedrate::round_tests
