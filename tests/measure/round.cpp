// SPDX-License-Identifier: Apache-2.0
#include "feedrate/measure/round.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
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

TEST_CASE("The clock of a round starts after the first step", "[round]") {
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

TEST_CASE("A first half in which the ring drains is a warm-up", "[round]") {
  // Bug: a prefetched buffer that flatters a short round, or one that makes it four times as long.
  // 20 ready batches at 1 ms, then 21 ms each. Half-time, 25 ms, is behind 20 batches, at 40 ms:
  // the ring has lost 19. The window then takes 3 batches of 21 ms.
  FakeClock clock;
  FakeFeed feed{&clock, 0.02, 1000, 20};
  const auto step = [&](const FakeBatch&) { clock.advance_s(0.001); };
  const Round round = run_round(feed, step, {.seconds = 0.05}, clock);
  CHECK(round.warm_up_batches == 21);
  CHECK(round.batches == 3);
  CHECK(round.samples == 30);
  CHECK(round.duration_s == Approx(0.063));
  CHECK(round.wait_s == Approx(0.06));
  CHECK(round.step_s == Approx(0.003));
  CHECK(round.ring_at_start == 0);
  CHECK(round.ring_at_end == 0);
  CHECK(round.variability == Approx(0).margin(1e-9));
}

/// A feed whose ring holds what the test says behind each batch.
struct LevelFeed {
  FakeClock* clock;
  std::vector<int> levels;  ///< the last one holds on
  std::size_t taken = 0;

  std::optional<FakeBatch> next() {
    ++taken;
    clock->advance_s(0.01);
    return FakeBatch{};
  }
  int ready() const { return levels[std::min(taken, levels.size()) - 1]; }
};

TEST_CASE("A ring that changes by one batch has settled, however short the round", "[round]") {
  // Bug: a limit of 5 % of the batches, which no change meets where there are fewer than 20.
  // Half-time of 0.04 s is behind 2 batches, of 0.6 s behind 30: one batch of 2, 3 of 30 pass.
  FakeClock clock;
  const auto step = [](const FakeBatch&) {};
  const auto batches_before = [&](std::vector<int> levels, double seconds) {
    LevelFeed feed{&clock, std::move(levels)};
    return run_round(feed, step, {.seconds = seconds - 0.001}, clock).warm_up_batches;
  };
  CHECK(batches_before({2, 1}, 0.04) == 1);
  CHECK(batches_before({2, 3}, 0.04) == 1);
  CHECK(batches_before({2, 1, 0}, 0.04) == 3);
  CHECK(batches_before({2, 3, 4}, 0.04) == 3);
  CHECK(batches_before({7, 4}, 0.6) == 1);
  CHECK(batches_before({7, 3}, 0.6) == 31);
}

TEST_CASE("A round starts again once, and takes at most 1.5 times as long", "[round]") {
  // Bug: a ring that never settles, and a round that never ends.
  FakeClock clock;
  std::vector<int> filling;
  for (int level = 0; level < 100; ++level) filling.push_back(level);
  LevelFeed feed{&clock, filling};
  const double begin_s = clock.now_s();
  const Round round = run_round(
      feed, [](const FakeBatch&) {}, {.seconds = 0.199}, clock);
  CHECK(round.batches == 20);
  CHECK(round.warm_up_batches == 11);
  CHECK(round.ring_at_start == 10);
  CHECK(round.ring_at_end == 30);
  CHECK(clock.now_s() - begin_s == Approx(0.01 + 1.5 * 0.2));
}

TEST_CASE("A warm-up leaves room for the fewest batches", "[round]") {
  // Bug: cold data that are read again as a warm-up was not counted among the most batches, or a
  // round of the one batch that was left.
  FakeClock clock;
  const auto step = [](const FakeBatch&) {};
  LevelFeed feed{&clock, {9, 5, 0}};
  const Round whole = run_round(feed, step, {.seconds = 1, .max_batches = 4}, clock);
  CHECK(whole.batches == 4);
  CHECK(whole.ring_at_start == 9);
  LevelFeed again{&clock, {9, 5, 0}};
  const Round part = run_round(again, step, {.seconds = 0.039, .max_batches = 5}, clock);
  CHECK(part.batches == 3);
  CHECK(part.warm_up_batches == 3);
  CHECK(again.taken == 6);
}

TEST_CASE("Time used by a warm-up does not count in the window", "[round]") {
  // Bug: the energy or the CPU time of a warm-up counted in the round, which looks wasteful then.
  FakeClock clock;
  LevelFeed feed{&clock, {9, 5, 0}};
  double used_j = 0;
  const std::function<double()> joules = [&] { return used_j; };
  double warm_up_cpu_s = 0;
  const auto step = [&](const FakeBatch&) {
    used_j += feed.taken <= 3 ? 1000 : 1;
    const double begin_s = process_cpu_s();
    while (feed.taken == 2 && warm_up_cpu_s < 0.1) warm_up_cpu_s = process_cpu_s() - begin_s;
  };
  const Round round = run_round(feed, step, {.seconds = 0.039, .joules = &joules}, clock);
  REQUIRE(round.warm_up_batches == 3);
  CHECK(round.energy_j == round.batches);
  CHECK(round.cpu_s < 0.1);
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
