// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/diagnose/emulation.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>

#include "feedrate/data/delayed_dataset.hpp"
#include "feedrate/data/in_memory.hpp"
#include "feedrate/measure/pipeline.hpp"
#include "feedrate/train/emulated.hpp"

namespace feedrate::emulation_tests {
namespace {

using Catch::Approx;

Round round_of(double samples_per_s, double cpu_s_per_sample = 0) {
  Round round;
  round.samples = 10'000;
  round.duration_s = 10'000 / samples_per_s;
  round.cpu_s = 10'000 * cpu_s_per_sample;
  return round;
}

Accelerator accelerator() {
  return {.name = "0.2@400", .step_s = 0.2, .batch = 400, .wanted = 0.9, .source = "a test"};
}

/// As it is 500 samples/s, recommended 1,500, of a demand of 2,000.
Outcome outcome() {
  Outcome outcome;
  outcome.trials.resize(2);
  outcome.trials[0].rounds = {round_of(490), round_of(510)};
  outcome.trials[1].config.workers = 2;
  outcome.trials[1].rounds = {round_of(1490), round_of(1510)};
  outcome.tiers.push_back({});
  outcome.tiers.back().trial = 1;
  outcome.probes = {{Part::loader, {.workers = 1}, Variant::as_is, round_of(900, 1.1e-3)},
                    {Part::loader, {.workers = 2}, Variant::as_is, round_of(1200, 1.3e-3)},
                    {Part::loader, {.workers = 2}, Variant::as_is, round_of(2000, 1.1e-3)},
                    {Part::loader, {.workers = 2}, Variant::decoded, round_of(9000)},
                    {Part::device, {.workers = 8}, Variant::as_is, round_of(2000)}};
  return outcome;
}

TEST_CASE("Utilization is the share of the demand, as it is and as recommended", "[emulation]") {
  // Bug: a utilization that counts late wake-ups as computing, or of the wrong config.
  const Emulation emulation = emulation_of(outcome(), accelerator());
  CHECK(emulation.accelerator.demand_samples_per_s() == Approx(2000));
  CHECK(emulation.reference->utilization.estimate == Approx(0.25).epsilon(1e-3));
  CHECK(emulation.recommended->utilization.estimate == Approx(0.75).epsilon(1e-3));
  CHECK(emulation.recommended->config.workers == 2);
  CHECK(emulation.recommended->utilization.low < 0.75);
  CHECK(emulation.recommended->utilization.high > 0.75);
  CHECK_FALSE(emulation.recommended->reaches(0.9));
  CHECK(emulation.recommended->reaches(0.7));
}

TEST_CASE("How many could be fed follows from the best loader ceiling", "[emulation]") {
  // Bug: the device's own rate, fewer workers, other data or the luckiest round taken for what the
  // loader can. Two rounds of 10,000 samples at 1,200 and 2,000 samples/s are 1,500; against 90 %
  // of 2,000 that feeds 0.83 accelerators; the loader must be 1.2 times as fast, and a sample that
  // costs 1.2 ms may cost 1 ms.
  const Emulation emulation = emulation_of(outcome(), accelerator());
  CHECK(emulation.loader_samples_per_s == Approx(1500));
  CHECK(emulation.loader_workers == 2);
  CHECK(emulation.accelerators_fed() == Approx(1500.0 / 1800));
  CHECK(emulation.speedup_needed() == Approx(1.2));
  CHECK(emulation.sample_cpu_s == Approx(1.2e-3));
  CHECK(emulation.sample_cpu_allowed_s() == Approx(1.0e-3));
}

TEST_CASE("What was not measured is empty", "[emulation]") {
  // Bug: a number out of nothing after a run that was interrupted early.
  Outcome nothing;
  nothing.trials.resize(1);
  const Emulation emulation = emulation_of(nothing, accelerator());
  CHECK_FALSE(emulation.reference);
  CHECK_FALSE(emulation.recommended);
  CHECK(emulation.accelerators_fed() == 0);
}

TEST_CASE("A pipeline on an emulated device is as fast as its slower part", "[emulation]") {
  // Bug: an emulated step that holds up its loader, or that waits for nobody. Samples wait 2 ms
  // with one worker: 500 samples/s. Steps of 4 samples take 2 ms (2,000 samples/s), then 40 ms
  // (100 samples/s).
  for (const auto& [step_s, truth] : {std::pair{2e-3, 500.0}, std::pair{40e-3, 100.0}}) {
    Workload workload;
    workload.source = make_source(
        DelayedDataset(InMemory(500, {{"label", DType::i32, {}}}), Cost::latency, 2e-3));
    workload.make_step = [step_s = step_s](const Config&) -> TrainStep {
      const auto step = std::make_shared<EmulatedStep<>>(step_s, 4);
      return [step](const Batch& batch) { step->run(batch.count()); };
    };
    Pipeline pipeline(workload, 4, CacheMode::warm);
    // A busy machine makes any round slow, and none too fast: one of many that comes near is
    // enough.
    double fastest = 0;
    for (int tries = 0; tries < 20 && fastest < 0.75 * truth; ++tries) {
      const Config config{.workers = 1, .prefetch = 4, .batch = 4};
      fastest = std::max(fastest, pipeline.coupled(config, {.seconds = 0.3}).samples_per_s());
    }
    CHECK(fastest > 0.75 * truth);
    CHECK(fastest < 1.1 * truth);
  }
}

}  // namespace
}  // namespace feedrate::emulation_tests
