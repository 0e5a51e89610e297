// SPDX-License-Identifier: Apache-2.0
// The tuner on what trains on a GPU, on the stand-in: loader, copies, steps and search together.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <memory>

#include "../../tuner/cuda_device.hpp"
#include "feedrate/cuda/device.hpp"
#include "feedrate/measure/pipeline.hpp"
#include "feedrate/tune/tuner.hpp"
#include "harness.hpp"

namespace feedrate::sweep_tests {
namespace {

using namespace feedrate::testing;

constexpr std::size_t samples = 64;

/// Numbers, and a model that tells them apart.
Workload numbers_on_a_gpu() {
  Workload workload;
  workload.name = "numbers";
  workload.source = make_source(Numbers{samples});
  workload.device = train_on_gpu({.uuid = cuda::describe_device(0).uuid,
                                  .model = {"numbers", {2}, {Linear{8}, Relu{}, Linear{samples}}},
                                  .optimizer = adam(),
                                  .field = "x"});
  return workload;
}

TuneOptions pinned_and_precision() {
  TuneOptions options;
  options.search = Search::grid;
  options.space = {.workers = {2},
                   .prefetch = {2},
                   .pinned = {false, true},
                   .graph = {false, true},
                   .precision = {Precision::fp32, Precision::bf16},
                   .batch = {4, 8}};
  options.reference = {.workers = 2, .prefetch = 2, .batch = 8};
  options.budget_s = 600;
  options.round_s = 1e-3;
  options.max_rounds = 60;
  return options;
}

TEST_CASE("The tuner sweeps pinned memory, precision and graphs of a GPU", "[sweep]") {
  // Bug: a lease, a step or a slot of one config that the next one still uses, in any order of the
  // device's work, or by two threads at once.
  const auto schedule = GENERATE(standin::lazy, standin::eager, standin::random(3));
  start_device_for_steps(schedule);
  {
    Pipeline pipeline(numbers_on_a_gpu(), 8, CacheMode::warm);
    const Outcome outcome = tune(pipeline, pinned_and_precision());
    CHECK(outcome.trials.size() == 16);
    for (const Trial& trial : outcome.trials) {
      INFO(trial.reason);
      CHECK(!trial.rounds.empty());
    }
    CHECK(outcome.recommended().config.workers == 2);
  }
  CHECK(standin::complaints().empty());
  CHECK(standin::living().device_blocks == 0);
}

TEST_CASE("Of batches that a sweep finds no room for, each is infeasible and no other", "[sweep]") {
  // Bug: one batch without room takes the whole run with it, or is called a failure.
  start_device_for_steps();
  const Workload workload = numbers_on_a_gpu();
  TuneOptions options = pinned_and_precision();
  options.space.batch = {8, 32};
  const BatchLayout slots(workload.source->layout(), 8);
  standin::set_memory_limit(workload.device->memory_bytes(options.reference, slots) + 1024);
  Pipeline pipeline(workload, 32, CacheMode::warm);
  for (const Trial& trial : tune(pipeline, options).trials) {
    INFO(trial.config.batch << ": " << trial.reason);
    const bool fits = trial.config.batch == 8;
    CHECK(trial.status == (fits ? TrialStatus::measured : TrialStatus::infeasible));
  }
}

}  // namespace
}  // namespace feedrate::sweep_tests
