// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/tuner.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <stdexcept>

#include "feedrate/data/delayed_dataset.hpp"
#include "feedrate/data/in_memory.hpp"
#include "feedrate/measure/pipeline.hpp"
#include "formula_machine.hpp"

namespace feedrate::tuner_tests {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Samples that wait `wait_s`, and a step that computes `step_s` per sample.
Workload waiting_workload(double wait_s, double step_s) {
  InMemory table(2'000, {{"x", DType::f32, {4}}, {"label", DType::i32, {}}});
  Workload workload;
  workload.name = "waiting";
  workload.source = make_source(DelayedDataset(std::move(table), Cost::latency, wait_s));
  workload.make_step = [step_s](const Config& config) -> TrainStep {
    if (config.precision == Precision::fp16) throw std::runtime_error("no fp16 here");
    return
        [step_s](const Batch& batch) { compute_for(step_s * static_cast<double>(batch.count())); };
  };
  return workload;
}

TuneOptions quick(Space space) {
  TuneOptions options;
  options.space = std::move(space);
  options.reference.batch = 4;
  options.budget_s = 2;
  options.cores = 2;
  return options;
}

TEST_CASE("Samples that wait get more workers than listed at first", "[tuner]") {
  // Bug: a tuner that stops at the number of cores although waiting data want more workers. One
  // sample waits 1 ms, its step computes 20 us: with N workers the rate is about N per ms.
  Pipeline pipeline(waiting_workload(1e-3, 2e-5), 4, CacheMode::warm);
  TuneOptions options = quick({.workers = {0, 1, 2}, .batch = {4}, .workers_may_grow = true});
  options.budget_s = 8;  // hundreds of threads start slowly below a sanitizer
  const Outcome outcome = tune(pipeline, options);
  CHECK(outcome.recommended().config.workers > 2);
  CHECK(outcome.choice().speedup.estimate > 2);
  CHECK(outcome.diagnoses.at(0).cause == Cause::no_overlap);
  CHECK(outcome.trials[outcome.reference].ceilings);
  CHECK(outcome.recommended().ceilings);
  CHECK(outcome.best_device.samples_per_s > 0);
}

TEST_CASE("A config that fails is a result, and the others are tuned", "[tuner]") {
  // Bug: one failing config that takes the others with it, or that is not named.
  Pipeline pipeline(waiting_workload(1e-4, 1e-5), 4, CacheMode::warm);
  auto options =
      quick({.workers = {0, 1}, .precision = {Precision::fp32, Precision::fp16}, .batch = {4}});
  const Outcome outcome = tune(pipeline, options);
  int failed = 0;
  for (const Trial& trial : outcome.trials) {
    if (trial.config.precision != Precision::fp16) continue;
    CHECK(trial.status == TrialStatus::failed);
    CHECK_THAT(trial.reason.error, ContainsSubstring("no fp16 here"));
    ++failed;
  }
  CHECK(failed == 2);
  CHECK(outcome.recommended().config.precision == Precision::fp32);
}

TEST_CASE("When every trial fails that is the error, with the first reason", "[tuner]") {
  // Bug: a recommendation out of nothing.
  Workload workload = waiting_workload(1e-4, 1e-5);
  workload.make_step = [](const Config&) -> TrainStep { throw std::runtime_error("broken step"); };
  Pipeline pipeline(workload, 4, CacheMode::warm);
  CHECK_THROWS_WITH(tune(pipeline, quick({.workers = {0, 1}, .batch = {4}})),
                    ContainsSubstring("broken step"));
}

TEST_CASE("Only the allowed tiers are tried and recommended", "[tuner]") {
  // Bug: an axis of a tier that is not allowed slipping into the recommendation.
  Pipeline pipeline(waiting_workload(1e-4, 1e-5), 16, CacheMode::warm);
  auto options = quick({.workers = {0, 2}, .batch = {4, 16}});
  options.allowed = {Tier::safe};
  const Outcome outcome = tune(pipeline, options);
  CHECK(outcome.tiers.size() == 1);
  for (const Trial& trial : outcome.trials)
    CHECK((trial.config.batch == 4 || trial.rounds.empty()));
}

TEST_CASE("A GPU is read after its steps, and the reason for a low clock is named", "[tuner]") {
  // Bug: a throttled GPU that is never asked, or asked when it has become idle.
  FormulaMachine machine([](const Config&) { return 1000.0; }, [](const Config&) { return 100.0; });
  machine.gpu = GpuState{.throttled_by = {"heat"}, .clock_hz = 1e9, .max_clock_hz = 2e9};
  const Outcome outcome = tune(machine, quick({.workers = {1, 2}, .batch = {4}}));
  REQUIRE(machine.part_before_gpu == Part::device);
  REQUIRE_FALSE(outcome.diagnoses.empty());
  CHECK(outcome.diagnoses.front().cause == Cause::throttling);
}

TEST_CASE("A stopped sweep returns what it knows", "[tuner]") {
  // Bug: a stop that throws away what is known.
  Pipeline pipeline(waiting_workload(1e-4, 1e-5), 4, CacheMode::warm);
  std::atomic<bool> stop{false};
  auto options = quick({.workers = {0, 1, 2}, .batch = {4}});
  options.stop = &stop;
  options.save = [&](const Outcome&) { stop = true; };
  const Outcome outcome = tune(pipeline, options);
  CHECK(outcome.interrupted);
  CHECK(outcome.race_end == RaceEnd::interrupted);
  CHECK(outcome.trials[outcome.reference].rounds.size() == 1);
}

TEST_CASE("A budget of zero, or an empty list of tiers, is an error", "[tuner]") {
  // Bug: nonsense that runs for ever or divides by zero.
  Pipeline pipeline(waiting_workload(1e-4, 1e-5), 4, CacheMode::warm);
  auto no_time = quick({.batch = {4}});
  no_time.budget_s = 0;
  CHECK_THROWS_AS(tune(pipeline, no_time), Error);
  auto no_tier = quick({.batch = {4}});
  no_tier.allowed = {};
  CHECK_THROWS_AS(tune(pipeline, no_tier), Error);
}

}  // namespace
}  // namespace feedrate::tuner_tests
