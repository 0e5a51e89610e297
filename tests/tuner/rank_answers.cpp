// SPDX-License-Identifier: Apache-2.0
#include "script/rank_answers.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "feedrate/report/json/trial_json.hpp"
#include "trials/pulse.hpp"

namespace feedrate::rank_answers_tests {
namespace {

using Catch::Approx;

/// The answer of a rank that took ten batches of ten samples.
Json answer_of(double duration_s, double wait_s, double outside_s) {
  Round round;
  round.batches = 10;
  round.samples = 100;
  round.duration_s = duration_s;
  round.wait_s = wait_s;
  round.step_s = duration_s - wait_s;
  round.outside_s = outside_s;
  return {{"round", to_json(round)}};
}

TEST_CASE("The slowest rank tells how long a round in step took", "[script]") {
  const Round round = together({answer_of(2, 0.5, 0), answer_of(3, 1, 0)}, true);
  CHECK(round.duration_s == Approx(3));
  CHECK(round.wait_s == Approx(1));
  CHECK(round.samples == 200);
}

TEST_CASE("What one rank alone does outside of the loop is no part of a round", "[script]") {
  // Bug: `if rank == 0: evaluate()`, for which the others wait in their next step: a round that is
  // ten times as long.
  const Round alone = together({answer_of(2, 0.5, 20), answer_of(22, 0.5, 0)}, true);
  CHECK(alone.duration_s == Approx(2));
  CHECK(alone.step_s == Approx(1.5));
  CHECK(alone.outside_s == Approx(20));
  const Round both = together({answer_of(2, 0.5, 20), answer_of(3, 0.5, 19)}, true);
  CHECK(both.duration_s == Approx(2));
  const Round waits = together({answer_of(2, 0.5, 20), answer_of(22, 21, 0)}, true);
  CHECK(waits.duration_s == Approx(21));
}

TEST_CASE("As long as one rank evaluates alone no rank is in its loop", "[script]") {
  // Bug: rank 0 validates for two minutes while rank 1 waits for it: both were taken for hung.
  const Watch watch;
  Pulse pulse(watch);
  for (const auto& [rank, outside] : {std::pair(0U, true), {1U, true}, {1U, false}}) {
    CHECK(pulse.took({{"outside", outside}}, rank));
  }
  const double before_s = pulse.outside_s();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(pulse.outside_s() > before_s);
  pulse.took({{"outside", false}}, 0);
  const double all_s = pulse.outside_s();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(pulse.outside_s() == all_s);
}

}  // namespace
}  // namespace feedrate::rank_answers_tests
