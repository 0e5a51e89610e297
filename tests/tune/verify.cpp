// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/verify.hpp"

#include <catch2/catch_test_macros.hpp>

#include "formula_machine.hpp"

namespace feedrate::verify_tests {
namespace {

TuneOptions of_two_batches() {
  TuneOptions options;
  options.space.batch = {8, 16};
  options.reference.batch = 8;
  options.budget_s = 600;
  options.allowed = {Tier::training};
  return options;
}

/// Verifies batch 16, which the race took for faster, on a machine where it is `factor` as fast.
Outcome verified(double factor, const Interval& raced) {
  FormulaMachine machine([factor](const Config& c) { return c.batch == 8 ? 1e3 : factor * 1e3; },
                         [](const Config&) { return 1e9; });
  const TuneOptions options = of_two_batches();
  Sweep sweep(machine, options);
  for (std::size_t t = 0; t < 2; ++t) sweep.run(t, "explore");
  Outcome& outcome = sweep.outcome();
  const std::size_t other = 1 - outcome.reference;
  outcome.tiers = {{.tier = Tier::training, .trial = other, .speedup = raced, .tie_set = {other}}};
  CHECK(verify(sweep, 1));
  return outcome;
}

constexpr Interval likely = {1.1, 0.9, 1.3};
constexpr Interval shown = {1.2, 1.1, 1.3};

TEST_CASE("What was only likely, and is no faster in its verification, is taken back", "[verify]") {
  // Bug: "not resolved" and 0.98x in its own verification, and recommended all the same.
  const Outcome outcome = verified(0.98, likely);
  CHECK(outcome.choice().trial == outcome.reference);
  CHECK(outcome.choice().standing == Standing::unresolved);
  CHECK(outcome.choice().speedup.estimate == 1);
  CHECK_FALSE(outcome.verified);
}

TEST_CASE("What was likely, and is faster in its verification, stays", "[verify]") {
  const Outcome outcome = verified(1.1, likely);
  CHECK(outcome.choice().trial != outcome.reference);
  CHECK(outcome.verified_rounds == 5);
}

TEST_CASE("What was shown to be faster is not taken back by five rounds", "[verify]") {
  const Outcome outcome = verified(0.99, shown);
  CHECK(outcome.choice().trial != outcome.reference);
  CHECK(outcome.verified->estimate < 1);
}

TEST_CASE("Each tier that has what is denied goes back to the reference", "[verify]") {
  Outcome outcome;
  outcome.trials.resize(3);
  outcome.tiers = {{.tier = Tier::safe, .standing = Standing::resolved, .trial = 1},
                   {.tier = Tier::numerics, .standing = Standing::resolved, .trial = 2},
                   {.tier = Tier::training, .standing = Standing::resolved, .trial = 2}};
  take_back_choice(outcome);
  CHECK(outcome.tiers[0].trial == 1);
  CHECK(outcome.tiers[0].standing == Standing::resolved);
  for (const std::size_t denied : {1, 2}) {
    CHECK(outcome.tiers[denied].trial == 0);
    CHECK(outcome.tiers[denied].standing == Standing::unresolved);
    CHECK(outcome.tiers[denied].tie_set == std::vector<std::size_t>{0});
  }
}

}  // namespace
}  // namespace feedrate::verify_tests
