// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/race.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

namespace feedrate::race_tests {
namespace {

/// Runs whole passes; the score of a trial is its own number plus a drift common to the pass.
void run_passes(Race& race, int passes) {
  const int end = race.passes() + passes;
  while (race.passes() < end) {
    const auto trial = race.propose();
    if (!trial) return;
    const double score = 0.1 * static_cast<double>(*trial) + 0.5 * race.passes();
    race.notify(Score{score, 2 * score});
  }
}

TEST_CASE("In each pass every runner runs once, in changing order", "[race]") {
  // Bug: an order that is always the same, so that what comes first always runs on a cool
  // machine.
  Race race({0, 1, 2, 3}, 0, 1);
  std::set<std::vector<std::size_t>> orders;
  for (int pass = 0; pass < 12; ++pass) {
    std::vector<std::size_t> order;
    for (int r = 0; r < 4; ++r) {
      order.push_back(*race.propose());
      race.notify(Score{});
    }
    CHECK(std::set(order.begin(), order.end()).size() == 4);
    orders.insert(order);
  }
  CHECK(orders.size() > 6);
}

TEST_CASE("Drift that is common to a pass cancels in the pairs", "[race]") {
  // Bug: means compared over passes that one of the two has not run, so that drift counts.
  Race race({4, 7}, 4, 1);
  run_passes(race, 6);
  const Pair pair = race.compare(7, 4);
  CHECK(pair.rounds == 6);
  CHECK(pair.log_ratio.estimate == Catch::Approx(0.3));
  CHECK(pair.verdict == Verdict::faster);
  CHECK(race.compare(4, 7).verdict == Verdict::slower);
  CHECK(race.log_speedup(7, 4).estimate == Catch::Approx(0.6));
}

TEST_CASE("The data are looked at after 6, 12 and 24 passes, and then the race is over", "[race]") {
  // Bug: looks after every pass.
  Race race({0, 1}, 0, 1);
  std::vector<int> looked;
  for (int pass = 0; pass < 24; ++pass) {
    run_passes(race, 1);
    if (race.at_look()) looked.push_back(race.passes());
  }
  CHECK(looked == std::vector{6, 12, 24});
  CHECK_FALSE(race.propose());
}

TEST_CASE("A dropped or failed runner runs no more, but the reference always stays", "[race]") {
  // Bug: a reference that is dropped, after which no gain can be told.
  Race race({0, 1, 2}, 0, 1);
  run_passes(race, 1);
  race.drop(1);
  race.drop(0);
  CHECK(race.is_in(0));
  CHECK_FALSE(race.is_in(1));
  for (int r = 0; r < 2; ++r) {
    const std::size_t trial = *race.propose();
    CHECK(trial != 1);
    race.notify(trial == 2 ? std::nullopt : std::optional(Score{}));
  }
  CHECK_FALSE(race.is_in(2));
  CHECK(race.propose() == std::size_t{0});
}

TEST_CASE("A pass that two processes share is run again", "[race]") {
  // Bug: a pair of rounds from before and after a crash, on a machine that had changed meanwhile.
  Race race({0, 1, 2}, 0, 1);
  run_passes(race, 1);
  const auto first = race.propose();
  race.notify(Score{1, 1, 0});
  race.propose();
  race.notify(Score{2, 2, 1});
  std::multiset<std::size_t> rest;
  while (race.passes() < 2) {
    rest.insert(*race.propose());
    race.notify(Score{3, 3, 1});
  }
  CHECK(rest.contains(*first));
  CHECK(rest.size() == 2);
  for (const std::size_t trial : {0, 1, 2}) CHECK(race.compare(trial, (trial + 1) % 3).rounds == 2);
}

TEST_CASE("A wild round of one runner hides nothing of the others", "[race]") {
  // Bug: noise pooled over all, so that after a slow start of a third nobody is likely to be
  // faster, and a reference is kept beside which rivals ran eight times as fast.
  constexpr double eightfold = 2.08;
  Race race({0, 1, 2}, 0, 1);
  while (race.passes() < 2) {
    const std::size_t trial = *race.propose();
    const double wobble = 0.02 * race.passes() * (trial == 1 ? 1 : -1);
    const double wild = trial == 2 && race.passes() == 0 ? -6 : 0;
    const double score = (trial == 0 ? 0 : eightfold) + wobble + wild;
    race.notify(Score{score, score});
  }
  const auto [ahead, error] = race.difference(1, 0);
  CHECK(ahead < 2 * error);
  CHECK(race.is_likely_faster(1, 0));
  CHECK_FALSE(race.is_likely_faster(0, 1));
  CHECK_FALSE(race.is_likely_faster(2, 0));
}

TEST_CASE("A wild round widens what is known of its own runner alone", "[race]") {
  // Bug: one round that went wrong in the noise of all, so that nobody is shown to be faster, nor
  // hopeless, for the rest of the race.
  constexpr double eightfold = 2.08;
  Race race({0, 1, 2, 3, 4, 5}, 0, 1);
  while (race.passes() < 6) {
    const std::size_t trial = *race.propose();
    const int pass = race.passes();
    const double wobble = 0.02 * ((pass + static_cast<int>(trial)) % 3 - 1);
    const double wild = trial == 5 && pass == 0 ? -6 : 0;
    const double score = (trial == 0 ? 0 : eightfold) + wobble + wild;
    race.notify(Score{score, score});
  }
  CHECK(race.noise() < 0.05);
  CHECK(race.is_shown_faster(1, 0));
  CHECK_FALSE(race.is_shown_faster(5, 0));
  CHECK(race.difference(1, 2).second < 0.05);
  CHECK(race.difference(1, 5).second > 0.5);
  const auto [ahead, error] = race.best_difference(5, 1);
  CHECK(ahead + 1.645 * error < 0.05);
  CHECK(race.best_difference(1, 5).first > 0.5);
}

TEST_CASE("Two noisy passes show nothing to be likely", "[race]") {
  // Bug: two standard errors taken for 95 % where they are known from one pair of differences: with
  // one degree of freedom that takes 12.7 of them.
  Race race({0, 1}, 0, 1);
  while (race.passes() < 2) {
    const std::size_t trial = *race.propose();
    const double ahead = race.passes() == 0 ? 0.3 : 0.5;
    const double score = trial == 1 ? ahead : 0;
    race.notify(Score{score, score});
  }
  const auto [ahead, error] = race.difference(1, 0);
  CHECK(ahead > 2 * error);
  CHECK_FALSE(race.is_likely_faster(1, 0));
  CHECK_FALSE(race.is_likely_faster(0, 1));
}

}  // namespace
}  // namespace feedrate::race_tests
