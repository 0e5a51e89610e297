// SPDX-License-Identifier: Apache-2.0
// The phases of the search on machines that are formulas.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/tune/tuner.hpp"
#include "four_cores.hpp"

namespace feedrate::search_tests {
namespace {

using Catch::Approx;

TEST_CASE("The grid ends after four rounds of each config", "[search]") {
  // Bug: exploring that uses up its share of the time, however clear the answer is.
  FormulaMachine machine = four_cores();
  const TuneOptions options = wide();
  Sweep sweep(machine, options);
  search_grid(sweep, 1e9);
  const auto& trials = sweep.outcome().trials;
  CHECK(trials.size() > 1);
  CHECK(std::all_of(trials.begin(), trials.end(),
                    [](const Trial& trial) { return trial.rounds.size() == 4; }));
}

TEST_CASE("Every search finds the best of a machine without noise", "[search]") {
  // Bug: a search that stops at what its model likes, or races the wrong finalists.
  const std::string search = GENERATE(as<std::string>(), "model", "grid", "random", "halving");
  FormulaMachine machine = four_cores();
  TuneOptions options = wide();
  options.search = search;
  const Outcome outcome = tune(machine, options);
  double best = 0;
  for (const Config& config : configs_of(options.space))
    best = std::max(best, machine.coupled(config));
  CHECK(machine.coupled(outcome.recommended().config) > 0.98 * best);
  CHECK(outcome.search == search);
  CHECK(outcome.rounds == static_cast<int>(machine.asked.size()));
}

TEST_CASE("A search or an objective that nobody knows is refused before anything runs",
          "[search]") {
  // Bug: a misspelt name that stands for the default in silence.
  FormulaMachine machine = four_cores();
  TuneOptions options = wide();
  options.search = "gird";
  CHECK_THROWS_AS(tune(machine, options), Error);
  options = wide();
  options.objective = "speed";
  CHECK_THROWS_AS(tune(machine, options), Error);
  CHECK(machine.asked.empty());
}

TEST_CASE("The model needs fewer rounds than there are configs", "[search]") {
  // Bug: a model that is not trusted, so that everything is measured after all.
  FormulaMachine machine = four_cores();
  const Outcome outcome = tune(machine, wide());
  CHECK(machine.asked.size() < configs_of(wide().space).size());
  CHECK(outcome.demands.loader->rate({.workers = 4, .batch = 64}) == Approx(1000));
  for (const Trial& trial : outcome.trials) {
    CHECK(trial.predicted_samples_per_s == Approx(machine.coupled(trial.config)).epsilon(0.1));
  }
}

TEST_CASE("The cheapest of equally fast configs is recommended", "[search]") {
  // Bug: eight workers and eight batches ahead where four and one do as well.
  FormulaMachine machine = four_cores();
  const Outcome outcome = tune(machine, wide());
  CHECK(outcome.recommended().config.workers <= 6);
  CHECK(outcome.recommended().config.prefetch <= 2);
}

TEST_CASE("Few threads are not tried where steps with them may take longer than rounds",
          "[search]") {
  // Bug: a step of half a second with 16 threads, of which three with one took all of the 30 s.
  const bool slow = GENERATE(false, true);
  const double core_s = slow ? 8 : 0.016;
  FormulaMachine machine(
      [](const Config& config) { return 1000.0 * std::max(config.workers, 1); },
      [core_s](const Config& config) { return config.batch * config.step_threads / core_s; });
  TuneOptions options;
  options.space = {.workers = {0, 1, 2, 4}, .step_threads = {1, 8, 16}, .batch = {32}};
  options.reference = {.step_threads = 16, .batch = 32};
  options.cores = 16;
  options.budget_s = 30;
  const Outcome outcome = tune(machine, options);
  const auto tried = [&](int threads) {
    return std::any_of(machine.asked.begin(), machine.asked.end(), [&](const Request& request) {
      return request.part != Part::loader && request.config.step_threads == threads;
    });
  };
  CHECK(tried(8));
  CHECK(tried(1) == !slow);
  CHECK(outcome.recommended().config.step_threads == 16);
}

TEST_CASE("A tier wider than the headline is shown, not recommended", "[search]") {
  // Bug: a speed-only what-if, as of another precision, became the recommendation.
  FormulaMachine machine = four_cores();
  TuneOptions options = wide();
  options.allowed = {Tier::safe, Tier::numerics};
  options.headline = Tier::safe;
  options.space.batch = {32};
  options.space.workers = {4};
  const Outcome outcome = tune(machine, options);
  REQUIRE(outcome.tiers.size() == 2);
  CHECK(outcome.choice().tier == Tier::safe);
  CHECK(outcome.recommended().config.precision == Precision::fp32);
}

TEST_CASE("A command that runs as a whole has no part measurements", "[search]") {
  // Bug: parts that don't exist were probed at the end, and their failure took configs out.
  class Whole final : public Measurer {
   public:
    Round run(const Request& request) override {
      CHECK(request.part == Part::coupled);
      return machine.run(request);
    }
    bool can_run(Part part) const override { return part == Part::coupled; }
    double epoch_boundary_s(const Config& config) override {
      return machine.epoch_boundary_s(config);
    }
    std::size_t memory_bytes(const Config&) override { return 0; }
    double now_s() override { return machine.now_s(); }
    FormulaMachine machine = four_cores();
  };
  Whole whole;
  TuneOptions options = wide();
  options.search = GENERATE(as<std::string>(), "grid", "halving");
  options.space.precision = {Precision::fp32};
  options.space.prefetch = {1};
  const Outcome outcome = tune(whole, options);
  CHECK(outcome.recommended().config.workers >= 3);
  CHECK(outcome.best_device.samples_per_s == 0);
}

TEST_CASE("Every search knows the fastest step of the space", "[search]") {
  // Bug: utilization against the best of what was met by chance.
  const std::string search = GENERATE(as<std::string>(), "model", "grid", "random", "halving");
  FormulaMachine machine = four_cores();
  TuneOptions options = wide();
  options.search = search;
  const double best = 256 / (0.02 + 256 * 0.6e-3);
  CHECK(tune(machine, options).best_device.samples_per_s == Approx(best));
}

TEST_CASE("A config of which a round takes too long is predicted alone", "[search]") {
  // Bug: half of the budget in one round. The step of 512 takes 10 s, a round of it 40.
  FormulaMachine machine([](const Config& c) { return 250.0 * std::clamp(c.workers, 1, 4); },
                         [](const Config& c) { return c.batch / (0.03 + c.batch / 51.2); });
  TuneOptions options = wide();
  options.space = {.workers = {0, 1, 2, 4}, .prefetch = {1, 2}, .batch = {8, 32, 512}};
  options.budget_s = 60;
  const Outcome outcome = tune(machine, options);
  CHECK(machine.now_s() < 90);
  for (const Trial& trial : outcome.trials) {
    if (trial.config.batch < 512) continue;
    CHECK(trial.status == TrialStatus::predicted);
    CHECK(trial.reason.why == Why::round_too_long);
    CHECK(trial.predicted_samples_per_s == Approx(machine.coupled(trial.config)).epsilon(0.05));
  }
}

TEST_CASE("Rates are predicted as well where joules decide", "[search]") {
  // Bug: rates predicted fifty times too low at 50 W, and configs far from all that was measured
  // thought to be as much better.
  FormulaMachine machine = four_cores();
  machine.watts = 50;
  TuneOptions options = wide();
  options.objective = "samples_per_joule";
  const Outcome outcome = tune(machine, options);
  for (const Trial& trial : outcome.trials) {
    CHECK(trial.predicted_samples_per_s == Approx(machine.coupled(trial.config)).epsilon(0.1));
  }
  CHECK(machine.asked.size() < configs_of(options.space).size());
}

TEST_CASE("A space of one point is measured, and kept", "[search]") {
  // Bug: a race of one that never settles, or "not resolved" where there is nothing to choose.
  FormulaMachine machine = four_cores();
  TuneOptions options;
  options.reference = {.workers = 2, .prefetch = 2, .batch = 32};
  options.space = {.workers = {2}, .prefetch = {2}, .batch = {32}};
  options.cores = 4;
  options.budget_s = 60;
  const Outcome outcome = tune(machine, options);
  CHECK(outcome.trials.size() == 1);
  CHECK(outcome.recommended().config == options.reference);
  CHECK(outcome.choice().standing == Confidence::keep_current);
  CHECK(machine.now_s() < 60);
}

TEST_CASE("Axes that may not change give no trial, and tiers are in order", "[search]") {
  // Bug: configs of a forbidden tier reported as "the budget ended first".
  FormulaMachine machine = four_cores();
  TuneOptions options = wide();
  options.reference = {.workers = 0, .prefetch = 2, .batch = 32};
  options.allowed = {Tier::safe};
  for (const Trial& trial : tune(machine, options).trials) CHECK(trial.config.batch == 32);
  options.allowed = {Tier::training, Tier::safe};
  CHECK_THROWS_WITH(tune(machine, options), Catch::Matchers::ContainsSubstring("narrowest first"));
}

TEST_CASE("A pair is reported once, in either order", "[search]") {
  // Bug: the same two rounds counted as two findings.
  FormulaMachine machine = four_cores();
  TuneOptions options = wide();
  options.objective = "busy";
  const Outcome outcome = tune(machine, options);
  REQUIRE_FALSE(outcome.pairs.empty());
  for (const Pair& one : outcome.pairs) {
    const auto same =
        std::count_if(outcome.pairs.begin(), outcome.pairs.end(), [&](const Pair& other) {
          return std::minmax(one.a, one.b) == std::minmax(other.a, other.b);
        });
    CHECK(same == 1);
  }
}

}  // namespace
}  // namespace feedrate::search_tests
