// SPDX-License-Identifier: Apache-2.0
// Tests of tune/diagnose/causes_device.hpp: causes in the device's own time, planted in evidence
// made by hand, are named first.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "planted_evidence.hpp"

namespace feedrate::diagnose_device_tests {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using namespace testing;

/// A step of `alpha_s` + 32 `beta_s` that is fed well, in a space of batches 32 and 512.
Evidence fed(double alpha_s, double beta_s) {
  const Config config{.workers = 2, .prefetch = 2};
  const StepDemand step = planted_step(Precision::fp32, alpha_s, beta_s);
  const double rate = step.rate(32);
  Evidence evidence = planted_evidence(config, 0.97 * rate, {.loader = 30 * rate, .device = rate});
  evidence.demands.steps = {step};
  evidence.trials.emplace_back().config = config;
  evidence.trials.back().config.batch = 512;
  return evidence;
}

TEST_CASE("A step that computes and is fed well gets no diagnosis", "[diagnose]") {
  // Bug: larger batches recommended to a step whose time is all samples.
  CHECK(causes_in(fed(1e-3, 1e-3)).empty());
}

TEST_CASE("Launches that dominate the step ask for a larger batch", "[diagnose]") {
  // Bug: a launch-bound step reported as a well-fed one. 4 ms + 32 x 50 us = 5.6 ms, 71 % fixed;
  // with 512 samples it is 58 us per sample instead of 175, and of
  // the coupled 180 us 117 go.
  const Evidence small = fed(4e-3, 5e-5);
  const Diagnosis diagnosis = first_of(small);
  CHECK(diagnosis.cause == Cause::batch_too_small);
  CHECK(diagnosis.share_of_gap == 0);
  CHECK_FALSE(diagnosis.measured);
  CHECK(*diagnosis.gain == Approx(180.4 / 63.2).epsilon(0.01));
  CHECK_THAT(cause_text(diagnosis, small.config()).remedy, ContainsSubstring("512"));
}

TEST_CASE("A tier's measured gain of a batch has priority over the model", "[diagnose]") {
  // Bug: the gain of all tiers called the gain of the batch: 2.4 in all, 1.2 of it by workers.
  Evidence small = fed(4e-3, 5e-5);
  plant_choice(small, Tier::safe, {.workers = 4, .prefetch = 2}, 1.2);
  plant_choice(small, Tier::training, {.workers = 4, .prefetch = 2, .batch = 512}, 2.4);
  const Diagnosis diagnosis = first_of(small);
  CHECK(diagnosis.cause == Cause::batch_too_small);
  CHECK(diagnosis.measured);
  CHECK(*diagnosis.gain == Approx(2));
}

TEST_CASE("A measured gain belongs to the batch that was measured", "[diagnose]") {
  // Bug: the gain of a smaller batch, or of one between, credited to the largest of the space.
  Evidence small = fed(4e-3, 5e-5);
  Config other{.workers = 2, .prefetch = 2, .batch = 16};
  plant_choice(small, Tier::training, other, 1.3);
  CHECK_FALSE(first_of(small).measured);
  CHECK(*first_of(small).gain == Approx(180.4 / 63.2).epsilon(0.01));
  small = fed(4e-3, 5e-5);
  other.batch = 128;
  plant_choice(small, Tier::training, other, 1.9);
  CHECK(first_of(small).measured);
  CHECK_THAT(first_text(small).remedy, ContainsSubstring("a batch of 128"));
}

TEST_CASE("A batch that can't be run is no remedy", "[diagnose]") {
  // Bug: the gain of a batch that had no room in memory.
  Evidence small = fed(4e-3, 5e-5);
  const Diagnosis before = first_of(small);
  Trial& large = small.trials.emplace_back();
  large.config.batch = 1 << 16;
  CHECK(first_of(small).numbers.largest_batch != before.numbers.largest_batch);
  large.status = TrialStatus::infeasible;
  CHECK(first_of(small).numbers.largest_batch == before.numbers.largest_batch);
  CHECK(first_of(small).gain == before.gain);
}

TEST_CASE("The gain of several changes at once is credited to none of them", "[diagnose]") {
  // Bug: batch and precision changed by one tier, and both said to give all of its 4 times.
  Evidence wide = fed(4e-3, 5e-5);
  wide.demands.steps.push_back(planted_step(Precision::bf16, 1e-3, 1e-5));
  plant_choice(wide, Tier::training,
               {.workers = 2, .prefetch = 2, .precision = Precision::bf16, .batch = 512}, 4);
  for (const Diagnosis& diagnosis : diagnose(wide).first) CHECK_FALSE(diagnosis.measured);
  CHECK_THAT(causes_in(wide), ContainsSubstring("batch_too_small"));
  CHECK_THAT(causes_in(wide), ContainsSubstring("precision_not_used"));
}

TEST_CASE("A measured gain belongs to the number format that was measured", "[diagnose]") {
  // Bug: what tf32 gained said of bf16; or what other workers gained, where no earlier tier had
  // taken that.
  Evidence wide = fed(1e-5, 3e-3);
  wide.demands.steps.push_back(planted_step(Precision::bf16, 1e-5, 1e-3));
  Config other{.workers = 2, .prefetch = 2, .precision = Precision::tf32};
  const auto measured_by = [&](const Config& config) {
    Evidence evidence = wide;
    plant_choice(evidence, Tier::numerics, config, 1.3);
    return first_of(evidence).measured;
  };
  CHECK_FALSE(measured_by(other));
  other.precision = Precision::bf16;
  CHECK(measured_by(other));
  other.workers = 4;
  CHECK_FALSE(measured_by(other));
}

TEST_CASE("A step dominated by overhead at any batch is work_too_small", "[diagnose]") {
  // Bug: a larger batch recommended where none of the space helps. 4 ms + 512 x 1 us.
  const Evidence tiny = fed(4e-3, 1e-6);
  CHECK(causes_in(tiny) == "work_too_small");
  CHECK_FALSE(first_of(tiny).gain);
}

TEST_CASE("Where the step was recorded as a graph, its gain is a remedy beside the batch",
          "[diagnose]") {
  // Bug: a launch-bound step told to change its training, though one switch does it. The step of
  // 5.6 ms takes 1.6 ms where 4 ms of launches go.
  Evidence small = fed(4e-3, 5e-5);
  small.demands.steps.push_back(planted_step(Precision::fp32, 1e-9, 5e-5));
  small.demands.steps.back().graph = true;
  CHECK(causes_in(small) == "batch_too_small");
  CHECK_THAT(first_text(small).remedy,
             ContainsSubstring("Or record the step as one graph: graph on "
                               "(the step alone: 3.5"));
  plant_choice(small, Tier::safe, {.workers = 2, .prefetch = 2, .graph = true}, 2.8);
  CHECK_THAT(first_text(small).remedy, ContainsSubstring("graph on (measured: 2.80x)"));
}

TEST_CASE("Work that is too small for launches is recorded as one, where that was measured",
          "[diagnose]") {
  // Bug: another device bought for what one switch mends; or a graph that gains nothing named.
  Evidence tiny = fed(4e-3, 1e-6);
  tiny.demands.steps.push_back(planted_step(Precision::fp32, 3.9e-3, 1e-6));
  tiny.demands.steps.back().graph = true;
  CHECK_FALSE(first_of(tiny).gain);
  CHECK_THAT(first_text(tiny).remedy, ContainsSubstring("does not need this device"));
  tiny.demands.steps.back() = planted_step(Precision::fp32, 1e-3, 1e-6);
  tiny.demands.steps.back().graph = true;
  CHECK(causes_in(tiny) == "work_too_small");
  CHECK_THAT(first_text(tiny).remedy, ContainsSubstring("Record the step as one graph: graph on"));
  CHECK_FALSE(first_of(tiny).measured);
  CHECK(*first_of(tiny).gain > 3);
  plant_choice(tiny, Tier::safe, {.workers = 2, .prefetch = 2, .graph = true}, 3.2);
  CHECK(first_of(tiny).measured);
  CHECK(*first_of(tiny).gain == Approx(3.2));
  tiny.trials[0].config.graph = true;  // it is recorded already
  tiny.demands.steps[0].graph = true;
  CHECK_THAT(first_text(tiny).remedy, ContainsSubstring("does not need this device"));
}

TEST_CASE("A faster precision is compared with the same way to launch", "[diagnose]") {
  // Bug: what recording the step gains said of bf16.
  Evidence wide = fed(1e-5, 3e-3);
  wide.demands.steps.push_back(planted_step(Precision::bf16, 1e-5, 1e-3));
  wide.demands.steps.back().graph = true;
  CHECK(causes_in(wide).empty());
}

TEST_CASE("A batch beyond the knee is too large", "[diagnose]") {
  // Bug: the largest batch taken for the best: beyond 32 a sample takes 1.5 times as long.
  Evidence large = fed(1e-5, 1e-3);
  large.trials[0].config.batch = 512;
  large.demands.steps[0].seconds[512] = 512 * 1.5e-3;
  large.trials[0].ceilings = {.loader = 30'000, .device = 1 / 1.5e-3};
  for (Round& round : large.trials[0].rounds) round = planted_round(650, 667);
  CHECK(causes_in(large) == "batch_too_large");
  CHECK(*first_of(large).gain == Approx(1.5).epsilon(0.05));
}

TEST_CASE("A machine that became slower has no batch that is too large", "[diagnose]") {
  // Bug: a ceiling of the end beside a smaller batch's probe of the beginning: a fifth of drift
  // was called a knee, and a smaller batch the remedy beside a recommendation of a larger one.
  Evidence drifted = fed(1e-5, 1e-3);
  drifted.trials[0].config.batch = 512;
  drifted.demands.steps[0].seconds[512] = 512 * 1e-3;
  drifted.trials[0].ceilings = {.loader = 30'000, .device = 1 / 1.25e-3};
  for (Round& round : drifted.trials[0].rounds) round = planted_round(780, 800);
  CHECK_THAT(causes_in(drifted), !ContainsSubstring("batch_too_large"));
}

TEST_CASE("A batch that fills the memory for nothing is too large", "[diagnose]") {
  // Bug: the next allocation fails, and nobody was told that a smaller batch is as fast.
  Evidence large = fed(1e-5, 1e-3);
  large.trials[0].config.batch = 512;
  large.trials[0].memory_bytes = 950;
  CHECK(causes_in(large).empty());
  large.environment.memory_free_bytes = 1000;
  CHECK(causes_in(large) == "batch_too_large");
  CHECK_THAT(first_text(large).evidence(), ContainsSubstring("almost full: 950 B of 1,000 B."));
}

TEST_CASE("On a GPU its own memory is what a batch fills", "[diagnose]") {
  // Bug: slots of the host compared with what is free there, while the memory of the GPU is full.
  Evidence large = fed(1e-5, 1e-3);
  large.trials[0].config.batch = 512;
  large.trials[0].memory_bytes = 950;
  large.environment.memory_free_bytes = 1000;
  for (Round& round : large.trials[0].rounds) round.device_bytes = std::uint64_t{38} << 30;
  CHECK(causes_in(large).empty());
  large.environment.device_memory_bytes = std::uint64_t{80} << 30;
  CHECK(causes_in(large).empty());
  large.environment.device_memory_bytes = std::uint64_t{40} << 30;
  CHECK(causes_in(large) == "batch_too_large");
  CHECK_THAT(first_text(large).evidence(), ContainsSubstring("38.0 GiB of 40.0 GiB"));
}

TEST_CASE("A faster number format that is not used is named", "[diagnose]") {
  // Bug: fp32 left alone on a device that is three times as fast in bf16.
  Evidence wide = fed(1e-5, 3e-3);
  wide.demands.steps.push_back(planted_step(Precision::bf16, 1e-5, 1e-3));
  const Diagnosis diagnosis = first_of(wide);
  CHECK(diagnosis.cause == Cause::precision_not_used);
  CHECK(*diagnosis.gain > 2.5);
  CHECK_THAT(cause_text(diagnosis, wide.config()).remedy, ContainsSubstring("bf16"));
}

TEST_CASE("A precision with a slower step is no remedy", "[diagnose]") {
  // Bug: "0.6 times as fast in bf16: train in bf16", where the race took its noise for a gain.
  Evidence slower = fed(1e-5, 1e-3);
  slower.demands.steps.push_back(planted_step(Precision::bf16, 1e-5, 2e-3));
  plant_choice(slower, Tier::numerics, {.workers = 2, .prefetch = 2, .precision = Precision::bf16},
               1.2);
  CHECK_THAT(causes_in(slower), !ContainsSubstring("precision_not_used"));
}

TEST_CASE("A faster step is no remedy where the loader holds it back", "[diagnose]") {
  // Bug: bf16 recommended to a device that waits for data.
  Evidence wide = fed(1e-5, 3e-3);
  wide.demands.steps.push_back(planted_step(Precision::bf16, 1e-5, 1e-3));
  wide.trials[0].ceilings = {.loader = 100, .device = 333};
  for (Round& round : wide.trials[0].rounds) round = planted_round(98, 333);
  CHECK(causes_in(wide) == "data_starvation");
}

TEST_CASE("A GPU below its clock is throttled, with the driver's reasons", "[diagnose]") {
  // Bug: a hot card taken for a slow one.
  Evidence hot = fed(1e-5, 1e-3);
  hot.environment.gpu = GpuState{{"heat"}, 1.0e9, 2.0e9, 0, {}};
  CHECK(causes_in(hot) == "throttling");
  CHECK(*first_of(hot).gain == Approx(2).epsilon(0.05));
  CHECK_THAT(first_text(hot).evidence(), ContainsSubstring("1,000 of 2,000 MHz: heat"));
}

/// A step of a well-fed GPU at 1.4 of 2 GHz, which may take so many of its 700 W.
Evidence held_by(const char* reason, double limit_w) {
  Evidence evidence = fed(1e-5, 1e-3);
  evidence.environment.gpu = GpuState{.throttled_by = {},
                                      .clock_hz = 1.4e9,
                                      .max_clock_hz = 2.0e9,
                                      .power_limit_w = limit_w,
                                      .default_power_limit_w = 700};
  if (*reason) evidence.environment.gpu->throttled_by = {reason};
  return evidence;
}

TEST_CASE("A GPU that takes all the power its maker allows is not throttled", "[diagnose]") {
  // Bug: "cool it, raise its power limit" said of a card that does its best.
  CHECK(causes_in(held_by(slowed_by::power_cap, 700)).empty());
}

TEST_CASE("A power limit that somebody lowered is named, with what it can cost at most",
          "[diagnose]") {
  // Bug: a gain of 2 / 1.4 promised by 100 W more of 700.
  const Evidence lowered = held_by(slowed_by::power_cap, 600);
  CHECK(causes_in(lowered) == "power_limit_lowered");
  CHECK(*first_of(lowered).gain == Approx(7.0 / 6).epsilon(0.02));
  CHECK_THAT(first_text(lowered).evidence(),
             ContainsSubstring("1,400 of 2,000 MHz: power cap, limited to 600 of 700 W."));
  CHECK_THAT(first_text(lowered).remedy, ContainsSubstring("'sudo nvidia-smi -pl 700'"));
}

TEST_CASE("A GPU that its supply slows down is throttled, and its remedy is not cooling",
          "[diagnose]") {
  // Bug: fans looked at where the power supply brakes.
  const Evidence braked = held_by(slowed_by::power_brake, 700);
  CHECK(causes_in(braked) == "throttling");
  CHECK_THAT(first_text(braked).remedy, ContainsSubstring("power supply"));
}

TEST_CASE("A low clock without a reason from the driver is reported as such", "[diagnose]") {
  // Bug: heat or power made up where somebody locked the clocks.
  const Evidence locked = held_by("", 700);
  CHECK(causes_in(locked) == "clocks_lowered");
  CHECK_THAT(first_text(locked).evidence(),
             ContainsSubstring("the driver names neither power, heat nor hardware"));
  CHECK_THAT(first_text(locked).remedy, ContainsSubstring("nvidia-smi -rgc"));
  // Bug: the maximum of a GeForce card, which it never reaches as it is sold, taken for its clock.
  Evidence as_sold = locked;
  as_sold.environment.gpu->clock_hz = 2.745e9;
  as_sold.environment.gpu->max_clock_hz = 3.105e9;
  CHECK(causes_in(as_sold) != "clocks_lowered");
}

TEST_CASE("Other processes on the GPU are named", "[diagnose]") {
  // Bug: somebody else's job taken for a property of the card.
  Evidence shared = fed(1e-5, 1e-3);
  shared.environment.gpu = GpuState{{}, 2e9, 2e9, 2, 0.5};
  CHECK(causes_in(shared) == "other_gpu_processes");
  CHECK_THAT(first_text(shared).evidence(),
             ContainsSubstring("2 other processes use this GPU 50 %"));
}

}  // namespace
}  // namespace feedrate::diagnose_device_tests
