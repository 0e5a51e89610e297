// SPDX-License-Identifier: Apache-2.0
// The phases of the search on machines that are formulas.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <stdexcept>

#include "feedrate/tune/tuner.hpp"
#include "formula_machine.hpp"

namespace feedrate {
namespace {

using Catch::Approx;

/// Four cores: the loader scales up to them; large batches are better up to 128.
FormulaMachine four_cores() {
  return FormulaMachine(
      [](const Config& config) { return 250.0 * std::clamp(config.workers, 1, 4); },
      [](const Config& config) {
        const double speed = config.precision == Precision::bf16 ? 2 : 1;
        return config.batch / (0.02 + config.batch * 1.2e-3 / speed);
      });
}

TuneOptions wide() {
  TuneOptions options;
  options.space = {.workers = {0, 1, 2, 3, 4, 6, 8},
                   .prefetch = {1, 2, 4, 8},
                   .precision = {Precision::fp32, Precision::bf16},
                   .batch = {8, 16, 32, 64, 128, 256}};
  options.cores = 4;
  options.budget_s = 600;
  return options;
}

TEST_CASE("Every search finds the best of a machine without noise", "[search]") {
  // Bug: a search that stops at what its model likes, or races the wrong finalists.
  const Search search = GENERATE(Search::model, Search::grid, Search::random, Search::halving);
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

TEST_CASE("The model needs fewer rounds than there are configs", "[search]") {
  // Bug: a model that is not trusted, so that everything is measured after all.
  FormulaMachine machine = four_cores();
  const Outcome outcome = tune(machine, wide());
  CHECK(machine.asked.size() < configs_of(wide().space).size());
  CHECK(outcome.demands.loader->rate(4, 64) == Approx(1000));
  for (const Trial& trial : outcome.trials) {
    CHECK(trial.predicted_samples_per_s == Approx(machine.coupled(trial.config)).epsilon(0.1));
  }
}

TEST_CASE("Of equally fast configs the cheapest is recommended", "[search]") {
  // Bug: eight workers and eight batches ahead where four and one do as well.
  FormulaMachine machine = four_cores();
  const Outcome outcome = tune(machine, wide());
  CHECK(outcome.recommended().config.workers <= 6);
  CHECK(outcome.recommended().config.prefetch <= 2);
}

TEST_CASE("A step that fails alone takes its configs out, with its reason", "[search]") {
  // Bug: a config that is known to fail being tried again with every number of workers.
  FormulaMachine machine = four_cores();
  machine.refuse = [](const Request& request) {
    if (request.config.precision == Precision::bf16) throw std::runtime_error("no bf16 here");
  };
  const Outcome outcome = tune(machine, wide());
  for (const Trial& trial : outcome.trials) {
    if (trial.config.precision != Precision::bf16) continue;
    CHECK(trial.status == TrialStatus::failed);
    CHECK(trial.reason == "no bf16 here");
  }
  const auto tried = std::count_if(machine.asked.begin(), machine.asked.end(), [](const auto& r) {
    return r.config.precision == Precision::bf16;
  });
  CHECK(tried == static_cast<long>(wide().space.batch.size()));
}

TEST_CASE("What needs more memory than allowed is not run", "[search]") {
  // Bug: running out of memory to find out that there is not enough.
  FormulaMachine machine = four_cores();
  TuneOptions options = wide();
  options.max_memory_bytes = std::uint64_t{64} << 20;
  const Outcome outcome = tune(machine, options);
  CHECK(outcome.recommended().config.batch <= 64);
  for (const Request& request : machine.asked) CHECK(request.config.batch <= 64);
  for (const Trial& trial : outcome.trials) {
    CHECK((trial.status == TrialStatus::infeasible) == (trial.config.batch > 64));
  }
}

TEST_CASE("Data that wait are given more workers than were asked for", "[search]") {
  // Bug: a search that stops at the end of its list while the loader still scales.
  FormulaMachine machine([](const Config& config) { return 20.0 * std::max(config.workers, 1); },
                         [](const Config&) { return 900.0; });
  TuneOptions options = wide();
  options.space.workers_may_grow = true;
  const Outcome outcome = tune(machine, options);
  CHECK(outcome.recommended().config.workers >= 32);
  CHECK(outcome.recommended().config.workers <= 64);
}

TEST_CASE("A reference that fails is no reason to recommend it, nor to give up", "[search]") {
  // Bug: "keep what you have" about a config that does not run.
  FormulaMachine machine = four_cores();
  machine.refuse = [](const Request& request) {
    const bool serial = request.part == Part::coupled && request.config.workers == 0;
    if (serial) throw std::runtime_error("needs workers");
  };
  const Outcome outcome = tune(machine, wide());
  CHECK(outcome.recommended().config.workers > 0);
  CHECK_FALSE(outcome.verified);
}

TEST_CASE("Noise without differences ends in keeping what there is", "[search]") {
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

TEST_CASE("A limit of rounds is kept", "[search]") {
  // Bug: a limit that only the calibration knows of.
  FormulaMachine machine = four_cores();
  Random random(3, 0, 0);
  machine.noise = [&] { return std::exp(0.05 * random.uniform(-1, 1)); };
  TuneOptions options = wide();
  options.max_rounds = 60;
  CHECK(tune(machine, options).rounds <= 90);
}

}  // namespace
}  // namespace feedrate
