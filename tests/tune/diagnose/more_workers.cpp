// SPDX-License-Identifier: Apache-2.0
// Calibrating the loader with more workers than were asked for.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <stdexcept>

#include "feedrate/tune/tuner.hpp"
#include "four_cores.hpp"

namespace feedrate::more_workers_tests {
namespace {

/// Samples that wait: each worker loads 20 of them a second, and the step takes 900.
FormulaMachine waiting() {
  return FormulaMachine([](const Config& config) { return 20.0 * std::max(config.workers, 1); },
                        [](const Config&) { return 900.0; });
}

/// Samples of which each doubling of the workers loads 2^power times as many.
FormulaMachine scaling(double power) {
  return FormulaMachine(
      [=](const Config& config) { return 60 * std::pow(std::max(config.workers, 1), power); },
      [](const Config&) { return 900.0; });
}

/// Up to 8 workers are asked for.
TuneOptions growing() {
  TuneOptions options = wide();
  options.space.workers_may_grow = true;
  return options;
}

/// The largest number of workers that became a trial.
int most_workers(FormulaMachine& machine, const TuneOptions& options) {
  int most = 0;
  for (const Trial& trial : tune(machine, options).trials)
    most = std::max(most, trial.config.workers);
  return most;
}

TEST_CASE("Samples that wait get more workers than listed", "[search]") {
  // Bug: a search that stops at the end of its list while the loader still scales.
  FormulaMachine machine = waiting();
  const int workers = tune(machine, growing()).recommended().config.workers;
  CHECK(workers >= 32);
  CHECK(workers <= 64);
}

TEST_CASE("Core-seconds per sample are known for each probed number of workers", "[search]") {
  // Bug: what a sample costs one worker, which falls asleep after each, taken for all numbers.
  FormulaMachine machine = waiting();
  machine.cpu_s = 1e-5;
  const LoadDemand loader = *tune(machine, growing()).demands.loader;
  REQUIRE(loader.samples_per_s.size() > 3);
  for (const auto& [workers, rate] : loader.samples_per_s) {
    CHECK(loader.cpu_s_by_workers.at(workers) == Catch::Approx(1e-5));
  }
}

TEST_CASE("One slow probe does not end the growth of the workers", "[search]") {
  // Bug: as many workers as there are cores for data that wait, since others took them for the 30
  // ms in which the largest number was probed.
  FormulaMachine machine = waiting();
  bool was_slow = false;
  slow_once(machine, was_slow, 0.3, [](const Request& request) {
    return request.part == Part::loader && request.config.workers == 8;
  });
  CHECK(tune(machine, growing()).recommended().config.workers >= 32);
  CHECK(was_slow);
}

TEST_CASE("Samples that keep the cores busy get no more workers", "[search]") {
  // Bug: 64 workers on two cores, one doubling after the other, as long as each gained a little.
  const auto grown = [](double cores_used, double power) {
    FormulaMachine machine = scaling(power);
    machine.cpu_s = cores_used / (60 * std::pow(8, power));
    return most_workers(machine, growing());
  };
  CHECK(grown(0.97 * 4, 0.2) == 8);
  CHECK(grown(0.88 * 4, 0.2) > 8);  // to start workers takes a core for a moment, too
  CHECK(grown(0.5 * 4, 0.2) > 8);
  CHECK(grown(0.5 * 4, 0.1) == 8);  // 7 % for twice as many
}

TEST_CASE("More workers are not started where that would use up the time", "[search]") {
  // Bug: seconds go by until 64 processes run, and nothing is left to measure anything with.
  const auto grown = [](double start_s) {
    FormulaMachine machine = waiting();
    machine.start_s = start_s;
    TuneOptions options = growing();
    options.budget_s = 40;
    return most_workers(machine, options);
  };
  CHECK(grown(0) == 256);
  CHECK(grown(0.1) == 64);
  CHECK(grown(0.5) == 8);
}

TEST_CASE("As long as workers double the rate, more of them are tried", "[search]") {
  // Bug: four workers, of a loader that is twice as fast with each doubling up to 64, because the
  // start of eight would have ended a moment behind the quarter of the time that calibration has.
  FormulaMachine machine([](const Config& config) { return 450.0 * std::max(config.workers, 1); },
                         [](const Config&) { return 4e4; });
  machine.start_s = 0.3;
  TuneOptions options;
  options.space = {.workers = {0, 1, 2}, .prefetch = {2}, .batch = {32}};
  options.space.workers_may_grow = true;
  options.cores = 2;
  options.budget_s = 30;
  const Outcome outcome = tune(machine, options);
  CHECK(outcome.demands.loader->samples_per_s.contains(16));
  CHECK(outcome.recommended().config.workers == 16);
}

TEST_CASE("A gain over many times the workers is not one of twice as many", "[search]") {
  // Bug: half of the time for workers that gain 15 % by each doubling, since 16 load 1.5 times as
  // much as 2.
  FormulaMachine machine = scaling(0.2);
  machine.start_s = 0.2;
  TuneOptions options = growing();
  options.space.workers = {0, 1, 2, 16};
  options.cores = 2;
  options.budget_s = 30;
  CHECK(most_workers(machine, options) == 16);
}

TEST_CASE("The last number of workers that is no longer than a round is begun", "[search]") {
  // Bug: 16 workers for a script whose loader gained by each doubling, since calibrating ended 0.7
  // s too early for 32; these were 1.47 times as fast.
  FormulaMachine machine = scaling(0.4);
  machine.start_s = 0.06;
  TuneOptions options = growing();
  options.budget_s = 30;
  CHECK(most_workers(machine, options) == 32);
}

TEST_CASE("More workers are not tried with what can't be run", "[search]") {
  // Bug: configs that calibration gave up come back with the workers that are added.
  FormulaMachine machine = waiting();
  machine.refuse = [](const Request& request) {
    if (request.config.batch >= 128) throw std::runtime_error("too large");
  };
  tune(machine, growing());
  for (const Request& request : machine.asked) {
    CHECK((request.part != Part::coupled || request.config.batch < 128));
  }
}

}  // namespace
}  // namespace feedrate::more_workers_tests
