// SPDX-License-Identifier: Apache-2.0
// The search on machines whose rounds scatter.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "feedrate/tune/tuner.hpp"
#include "four_cores.hpp"

namespace feedrate::search_tests {
namespace {

TEST_CASE("Noise without differences ends with the reference", "[search]") {
  // Bug: a winner made of noise.
  Random random(7, 0, 0);
  int changed = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    FormulaMachine machine([](const Config&) { return 1e9; }, [](const Config&) { return 500.0; });
    machine.noise = [&] {
      return std::exp(0.03 * (random.uniform(-1, 1) + random.uniform(-1, 1)));
    };
    TuneOptions options = wide();
    options.seed = static_cast<std::uint64_t>(repeat);
    const Outcome outcome = tune(machine, options);
    for (const Pair& pair : outcome.pairs) changed += pair.verdict == Verdict::faster;
  }
  CHECK(changed <= 2);
}

TEST_CASE("A race that ends early is followed by a proof", "[search]") {
  // Bug: the reference, four times slower in each round so far, because the race was short.
  FormulaMachine machine = four_cores();
  Random random(3, 0, 0);
  machine.noise = [&] { return std::exp(0.05 * random.uniform(-1, 1)); };
  TuneOptions options = wide();
  options.max_rounds = 60;
  options.budget_s = 600;
  const Outcome outcome = tune(machine, options);
  REQUIRE(outcome.passes < 6);
  REQUIRE(outcome.verified);
  CHECK(outcome.verified->low > 1);
  CHECK(machine.coupled(outcome.recommended().config) > 2 * machine.coupled(options.reference));
}

TEST_CASE("A gain that takes many pairs to show gets the time for them", "[search]") {
  // Bug: a machine so noisy that all the time goes into which of the fast is the fastest, and
  // "keep what you have" at the end, of configs that are a quarter faster.
  Random random(9'000'004, 0, 0);
  int shown = 0;
  constexpr int runs = 20;
  for (int run = 0; run < runs; ++run) {
    FormulaMachine machine([](const Config&) { return 4000.0; },
                           [](const Config&) { return 1000.0; });
    machine.noise = [&] {
      return std::exp(0.12 * (random.uniform(-1, 1) + random.uniform(-1, 1)));
    };
    TuneOptions options = wide();
    options.budget_s = 60;
    options.seed = static_cast<std::uint64_t>(run);
    shown += tune(machine, options).recommended().config.workers > 0;
  }
  CHECK(shown >= 0.8 * runs);
}

TEST_CASE("The limit of rounds covers everything before the ceilings", "[search]") {
  // Bug: a limit that only the calibration knows of.
  const std::string search = GENERATE(as<std::string>(), "model", "grid", "random", "halving");
  FormulaMachine machine = four_cores();
  Random random(3, 0, 0);
  machine.noise = [&] { return std::exp(0.05 * random.uniform(-1, 1)); };
  TuneOptions options = wide();
  options.search = search;
  options.max_rounds = 60;
  int before_ceilings = 0;
  options.observe = [&](const Progress& progress) {
    before_ceilings += progress.round && progress.phase != "ceilings" && progress.phase != "verify";
  };
  tune(machine, options);
  CHECK(before_ceilings <= options.max_rounds);
}

}  // namespace
}  // namespace feedrate::search_tests
