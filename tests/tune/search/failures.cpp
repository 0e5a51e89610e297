// SPDX-License-Identifier: Apache-2.0
// The search where configs fail, or have no room in memory.
#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <stdexcept>

#include "feedrate/tune/tuner.hpp"
#include "four_cores.hpp"

namespace feedrate::search_tests {
namespace {

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
    CHECK(trial.reason.error == "no bf16 here");
  }
  const auto tried = std::count_if(machine.asked.begin(), machine.asked.end(), [](const auto& r) {
    return r.config.precision == Precision::bf16;
  });
  CHECK(tried == static_cast<long>(wide().space.batch.size()));
}

TEST_CASE("Configs whose workers can't load fail with the reason", "[search]") {
  // Bug: data that can't be sent to workers left all configs "not reached", and were loaded again
  // for each number of workers.
  FormulaMachine machine = four_cores();
  machine.refuse = [](const Request& request) {
    if (request.config.workers > 0 && request.part != Part::device)
      throw std::runtime_error("it can't be pickled");
  };
  const Outcome outcome = tune(machine, wide());
  for (const Trial& trial : outcome.trials) {
    if (trial.config.workers == 0) continue;
    CHECK(trial.status == TrialStatus::failed);
    CHECK(trial.reason.error == "it can't be pickled");
  }
  CHECK(outcome.recommended().config.workers == 0);
  for (const Diagnosis& diagnosis : outcome.diagnoses) CHECK(diagnosis.cause != Cause::no_overlap);
  const auto with_workers =
      std::count_if(machine.asked.begin(), machine.asked.end(), [](const Request& request) {
        return request.config.workers > 0 && request.part != Part::device;
      });
  CHECK(with_workers <= 4);
}

TEST_CASE("Where the script's own workers can't load, those that start in another way are tried",
          "[search]") {
  // Bug: a dataset that can't be sent to a new process, given up for workers that are copies, too.
  const bool own_is_there = GENERATE(true, false);
  FormulaMachine machine = four_cores();
  machine.refuse = [](const Request& request) {
    const Config& config = request.config;
    const bool copies = config.start_method == StartMethod::fork;
    if (config.workers > 0 && request.part != Part::device && !copies)
      throw std::runtime_error("it can't be pickled");
  };
  TuneOptions options = wide();
  options.allowed = {Tier::safe, Tier::processes};
  options.space.start_method = {StartMethod::fork, StartMethod::spawn};
  if (own_is_there) options.space.start_method.push_back(StartMethod::own);
  const Outcome outcome = tune(machine, options);
  CHECK(outcome.recommended().config.workers > 0);
  CHECK(outcome.recommended().config.start_method == StartMethod::fork);
  for (const Trial& trial : outcome.trials) {
    const bool own = trial.config.workers > 0 && trial.config.start_method == StartMethod::own;
    CHECK((!own || trial.status == TrialStatus::failed));
  }
}

TEST_CASE("A round that was stopped says nothing of its config", "[search]") {
  // Bug: a config with good rounds marked as failed, since Ctrl-C came while it was started again.
  FormulaMachine machine = four_cores();
  std::atomic<bool> stop{false};
  TuneOptions options = wide();
  options.stop = &stop;
  int coupled = 0;
  machine.refuse = [&](const Request& request) {
    if (request.part != Part::coupled || ++coupled < 12) return;
    stop = true;
    throw Error(Fault::interrupted, "The run was interrupted.");
  };
  const Outcome outcome = tune(machine, options);
  CHECK(outcome.interrupted);
  for (const Trial& trial : outcome.trials) CHECK(trial.status != TrialStatus::failed);
}

TEST_CASE("A probe without memory for its batches uses fewer", "[search]") {
  // Bug: all configs with workers given up, because one with the most batches ahead had no room.
  const int room = GENERATE(600, 20);
  FormulaMachine machine = four_cores();
  machine.refuse = [room](const Request& request) {
    const Config& config = request.config;
    if (config.workers > 0 && config.prefetch * config.batch > room)
      throw OutOfMemory("There is no room for it.");
  };
  const Outcome outcome = tune(machine, wide());
  CHECK(outcome.recommended().config.workers > 0);
  for (const Trial& trial : outcome.trials) {
    const Config& config = trial.config;
    if (config.workers > 0 && config.prefetch * config.batch <= room) {
      CHECK(trial.status != TrialStatus::infeasible);
    }
  }
}

TEST_CASE("Configs that need more memory than allowed do not run", "[search]") {
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

TEST_CASE("Every search ends when all fails, and says why", "[search]") {
  // Bug: a pass over nothing, again and again, deaf to a stop.
  const std::string search = GENERATE(as<std::string>(), "model", "grid", "random", "halving");
  FormulaMachine machine = four_cores();
  machine.refuse = [](const Request&) { throw std::runtime_error("no such thing"); };
  TuneOptions options = wide();
  options.search = search;
  CHECK_THROWS_WITH(tune(machine, options), Catch::Matchers::ContainsSubstring("no such thing"));
}

TEST_CASE("A config that fails in its verification is not recommended", "[search]") {
  // Bug: the failed config stays, called tied.
  FormulaMachine machine = four_cores();
  TuneOptions options = wide();
  bool verifying = false;
  options.observe = [&](const Progress& progress) { verifying = progress.phase == "verify"; };
  std::optional<Config> crashing;  // the first choice that is to be proven
  machine.refuse = [&](const Request& request) {
    const bool is_choice = verifying && request.config != canonical(options.reference);
    if (is_choice && !crashing) crashing = request.config;
    if (is_choice && request.config == *crashing) throw std::runtime_error("crashed");
  };
  const Outcome outcome = tune(machine, options);
  CHECK(outcome.recommended().status == TrialStatus::measured);
  const auto failed = std::count_if(outcome.trials.begin(), outcome.trials.end(), [](auto& trial) {
    return trial.status == TrialStatus::failed;
  });
  CHECK(failed > 0);
}

TEST_CASE("A reference that does not fit into memory is neither run nor recommended", "[search]") {
  // Bug: the limit of memory broken by the one config that is always run.
  FormulaMachine machine = four_cores();
  TuneOptions options = wide();
  options.reference = {.workers = 4, .prefetch = 2, .batch = 256};
  options.max_memory_bytes = std::uint64_t{64} << 20;
  const Outcome outcome = tune(machine, options);
  CHECK(outcome.recommended().status == TrialStatus::measured);
  for (const Request& request : machine.asked) CHECK(request.config.batch <= 64);
  options.allowed = {Tier::safe};  // which leaves its batch alone
  CHECK_THROWS_WITH(tune(machine, options), Catch::Matchers::ContainsSubstring("fits"));
}

TEST_CASE("A round without its energy is no score", "[search]") {
  // Bug: no joule at all, which is infinitely many samples per joule.
  FormulaMachine machine = four_cores();
  machine.watts = 50;
  int coupled = 0;
  machine.blind = [&](const Request& request) {
    return request.part == Part::coupled && ++coupled == 7;
  };
  TuneOptions options = wide();
  options.objective = "samples_per_joule";
  const Outcome outcome = tune(machine, options);
  double best = 0;
  for (const Config& config : configs_of(options.space))
    best = std::max(best, machine.coupled(config));
  CHECK(machine.coupled(outcome.recommended().config) > 0.98 * best);
  for (const Trial& trial : outcome.trials) {
    for (const Round& round : trial.rounds) CHECK(round.energy_j > 0);
  }
}

}  // namespace
}  // namespace feedrate::search_tests
