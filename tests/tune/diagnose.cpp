// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/diagnose.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace feedrate {
namespace {

using Catch::Approx;

Trial trial_of(const Config& config, double samples_per_s, const Ceilings& ceilings) {
  Trial trial;
  trial.config = config;
  const auto samples = static_cast<std::uint64_t>(samples_per_s);
  for (int i = 0; i < 2; ++i) {
    trial.rounds.push_back({.duration_s = 1, .samples = samples, .wait_s = 0.5, .step_s = 0.5});
  }
  trial.ceilings = ceilings;
  return trial;
}

TEST_CASE("A well-fed device gets no diagnosis", "[diagnose]") {
  // Bug: a pipeline that is fine and gets a diagnosis all the same.
  const Trial fine = trial_of({.workers = 4, .prefetch = 2}, 950, {.loader = 3000, .device = 1000});
  CHECK(diagnose(fine, fine, {1, 1, 1}).first.empty());
}

TEST_CASE("Without workers the caller's loading is the cause", "[diagnose]") {
  // Bug: a share that does not follow from the times. 1/100 = 1/125 + 1/500: the loader's own 8
  // ms are the whole gap between 10 ms and the device's 2 ms.
  const Trial serial = trial_of({}, 100, {.loader = 125, .device = 500});
  const Trial better = trial_of({.workers = 2, .prefetch = 2}, 240, {.loader = 250, .device = 500});
  const auto [causes, left] = diagnose(serial, better, {2.4, 2.3, 2.5});
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].cause == "no_overlap");
  CHECK(causes[0].share_of_gap == Approx(1));
  CHECK(*causes[0].gain == Approx(2.4));
  CHECK(left == Approx(0));
}

TEST_CASE("With workers the lowest ceiling is the cause", "[diagnose]") {
  // Bug: starvation named where the cores are what both want.
  const Config config{.workers = 2, .prefetch = 2};
  const Trial starved = trial_of(config, 195, {.loader = 200, .device = 1000, .cores = 900});
  CHECK(diagnose(starved, starved, {1, 1, 1}).first.at(0).cause == "data_starvation");
  const Trial crowded = trial_of(config, 195, {.loader = 400, .device = 1000, .cores = 200});
  CHECK(diagnose(crowded, crowded, {1, 1, 1}).first.at(0).cause == "shared_cores");
}

TEST_CASE("A rate below every ceiling is named interference", "[diagnose]") {
  // Bug: a loss below every ceiling that is explained away.
  const Config config{.workers = 2, .prefetch = 2};
  const Trial slowed = trial_of(config, 100, {.loader = 200, .device = 1000, .cores = 900});
  const auto causes = diagnose(slowed, slowed, {1, 1, 1}).first;
  REQUIRE(causes.size() == 2);
  CHECK(causes[1].cause == "interference");
  CHECK(causes[0].share_of_gap + causes[1].share_of_gap == Approx(1));
}

}  // namespace
}  // namespace feedrate
