// SPDX-License-Identifier: Apache-2.0
// Tests of tune/diagnose/causes_samples.hpp: each cause, planted in evidence made by hand,
// is named first.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "planted_evidence.hpp"

namespace feedrate::diagnose_samples_tests {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using namespace testing;

TEST_CASE("Starvation says which part of the loading is the dearest", "[diagnose]") {
  // Bug: "the loader is slow", with the parts at hand.
  Evidence slow = starved();
  CHECK(first_cause(slow) == "data_starvation");
  slow.environment.load = LoadCosts{2e-3, 4e-3, 4.5e-3};
  CHECK(first_cause(slow) == "data_starvation.augment");
  slow.environment.load = LoadCosts{4.5e-3, 4e-3, 2e-3};
  CHECK(first_cause(slow) == "data_starvation.read");
  slow.environment.load = LoadCosts{4e-3, 4.5e-3, 2e-3};
  CHECK(first_cause(slow) == "data_starvation.decode");
  CHECK_THAT(first_text(slow).evidence(), ContainsSubstring("Decoding takes 43 % of the time"));
}

TEST_CASE("Decoding that dominates belongs offline, by its share of the parts", "[diagnose]") {
  // Bug: a gain out of nothing. Of 5 ms per sample 80 % go: 1 ms, as much as the device takes.
  Evidence slow = starved();
  slow.environment.load = LoadCosts{1e-3, 8e-3, 1e-3};
  const Diagnosis diagnosis = first_of(slow);
  CHECK(diagnosis.cause == Cause::preprocess_offline);
  CHECK_FALSE(diagnosis.measured);
  CHECK(*diagnosis.gain == Approx((1 / 196.0) / (1 / 196.0 - 4e-3)).epsilon(0.01));
}

TEST_CASE("A measured gain of decoded samples has priority over the parts", "[diagnose]") {
  // Bug: a model preferred to a measurement. Decoded samples turned out to be no faster to read.
  Evidence slow = starved();
  slow.environment.load = LoadCosts{1e-3, 8e-3, 1e-3};
  slow.what_if = {{"decoded", two_workers, 200, {1.01, 1, 1.02}}};
  CHECK(first_cause(slow) == "data_starvation.decode");
  slow.what_if[0].speedup = {3, 2.9, 3.1};
  CHECK(first_cause(slow) == "preprocess_offline.decode");
  CHECK(first_of(slow).measured);
  slow.what_if[0].config = eight_workers;  // of another config: it says nothing of this one
  CHECK_FALSE(first_of(slow).measured);
}

TEST_CASE("Augmentation that dominates belongs on a device of its own", "[diagnose]") {
  // Bug: work moved to a device that shares the cores with the loader.
  Evidence slow = starved();
  slow.environment.load = LoadCosts{1e-3, 1e-3, 8e-3};
  CHECK(first_cause(slow) == "data_starvation.augment");
  slow.trials[0].ceilings->copy = 50'000;
  CHECK(first_cause(slow) == "preprocess_on_device.augment");
}

TEST_CASE("Floats that travel belong on the device where bytes were measured to be faster",
          "[diagnose]") {
  // Bug: four times the bytes over the bus, and the copies or the loader blamed for it. The copies
  // are the lowest ceiling; of bytes they were 4 times as fast.
  Config floats = two_workers;
  floats.pinned = true;
  floats.preprocess = Preprocess::host;
  Evidence slow = planted_evidence(floats, 290, {.loader = 4000, .copy = 300, .device = 1000});
  slow.demands.copy_pinned = 300;
  CHECK(causes_in(slow) == "data_starvation.copy");
  Config bytes = floats;
  bytes.preprocess = Preprocess::device;
  slow.demands.copy_factor[Preprocess::device] = 4;
  slow.demands.loader = planted_loader(5e-4, 5e-4);
  slow.demands.loader->preprocess_factor[Preprocess::device] = 1.5;
  slow.demands.steps = {planted_step(Precision::fp32, 1e-5, 1e-3)};
  slow.demands.cores = 8;
  slow.trials.emplace_back().config = bytes;
  const Diagnosis modelled = first_of(slow);
  CHECK(modelled.cause == Cause::preprocess_on_device);
  CHECK_FALSE(modelled.measured);
  CHECK(*modelled.gain == Approx(3.3).epsilon(0.05));
  CHECK_THAT(cause_text(modelled, slow.config()).evidence(),
             ContainsSubstring("Copies reach 300 samples/s as floats and "
                               "1,200 samples/s"));
  plant_choice(slow, Tier::safe, bytes, 3.1);
  CHECK(first_of(slow).measured);
  CHECK(*first_of(slow).gain == Approx(3.1));
  CHECK_THAT(first_text(slow).remedy, ContainsSubstring("preprocess device"));
  slow.tiers.clear();
  slow.trials.resize(2);
  Config others = bytes;
  others.workers = 4;  // a config that differs in more is no evidence
  plant_choice(slow, Tier::safe, others, 3.1);
  CHECK_FALSE(first_of(slow).measured);
}

TEST_CASE("Storage slower than the page cache is named in cold mode", "[diagnose]") {
  // Bug: the decoder blamed for the disk. 100 kB at 20 MB/s are 5 ms, the loader's whole time.
  Evidence cold = starved();
  cold.environment.cold = true;
  cold.environment.reads = ReadSpeeds{20e6, 4e9, 100e3};
  CHECK(first_cause(cold) == "storage_slow.read");
  cold.environment.cold = false;  // the same storage, not read
  CHECK(first_cause(cold) == "data_starvation");
}

TEST_CASE("Reading that dominates is slow storage", "[diagnose]") {
  // Bug: samples that are mostly read blamed on decoding.
  Evidence reading = starved();
  reading.environment.load = LoadCosts{8e-3, 1e-3, 1e-3};
  CHECK(first_cause(reading) == "storage_slow.read");
}

TEST_CASE("A what-if whose interval contains 1 is no gain", "[diagnose]") {
  // Bug: a lucky pair of rounds reported as the measured gain of storing samples decoded.
  Evidence slow = starved();
  slow.what_if = {{"decoded", two_workers, 250, {1.25, 0.8, 1.95}}};
  CHECK(first_cause(slow) == "data_starvation");
}

TEST_CASE("Starvation has no gain, only an upper limit", "[diagnose]") {
  // Bug: "44 times, modelled" beside "make samples cheaper", as if some setting had it. The caller
  // loads for 9 ms and steps for 1; two workers make it twice as fast, and free samples 10 times.
  Evidence serial = planted_evidence({}, 100, {.loader = 1000 / 9.0, .device = 1000});
  plant_choice(serial, Tier::safe, two_workers, 2);
  const auto diagnoses = diagnose(serial).first;
  REQUIRE(diagnoses.size() == 2);
  CHECK(diagnoses[1].cause == Cause::data_starvation);
  CHECK_FALSE(diagnoses[1].gain);
  CHECK_THAT(cause_text(diagnoses[1], {}).evidence(), ContainsSubstring("10.0x as fast"));
}

TEST_CASE("A modelled gain uses the time that more specific causes have not taken", "[diagnose]") {
  // Bug: time that workers take gained a second time by storing samples decoded. Of 10 ms two
  // workers take 5; of the 9 that loading costs decoding is 8, but only 4 of these are left.
  Evidence serial = planted_evidence({}, 100, {.loader = 1000 / 9.0, .device = 1000});
  plant_choice(serial, Tier::safe, two_workers, 2);
  serial.environment.load = LoadCosts{0.5e-3, 8e-3, 0.5e-3};
  const auto diagnoses = diagnose(serial).first;
  REQUIRE(diagnoses.size() == 2);
  CHECK(diagnoses[1].cause == Cause::preprocess_offline);
  CHECK(*diagnoses[1].gain == Approx(10 / 6.0).epsilon(0.01));
}

TEST_CASE("An expensive start of each epoch is epoch_boundary", "[diagnose]") {
  // Bug: short epochs whose start costs more than their batches. 64 samples take 64 ms of the
  // device and 64 ms of waiting at the boundary.
  Evidence short_epochs = planted_evidence(two_workers, 500, {.loader = 3000, .device = 1000});
  short_epochs.environment.samples_per_epoch = 64;
  short_epochs.trials[0].epoch_boundary_s = 0.064;
  CHECK(first_cause(short_epochs) == "epoch_boundary");
  CHECK(first_of(short_epochs).share_of_gap == Approx(1).epsilon(0.02));
}

TEST_CASE("An epoch boundary that the rounds never met has a gain but no share", "[diagnose]") {
  // Bug: time that was not measured counted as a part of what was. The rounds went through 3,000
  // samples, an epoch has 10,000.
  Evidence long_epochs = planted_evidence(two_workers, 990, {.loader = 3000, .device = 1000});
  long_epochs.environment.samples_per_epoch = 10'000;
  long_epochs.trials[0].epoch_boundary_s = 5;
  CHECK(first_cause(long_epochs) == "epoch_boundary");
  CHECK(first_of(long_epochs).share_of_gap == 0);
}

TEST_CASE("An epoch is that of the data, not of the part that the rounds go through",
          "[diagnose]") {
  // Bug: a boundary that training meets once in a million samples blamed by its cost in rounds that
  // meet it every 64. It explains what was measured, and there is next to nothing to gain.
  Evidence part = planted_evidence(two_workers, 500, {.loader = 3000, .device = 1000});
  part.environment.samples_per_epoch = 1'000'000;
  part.environment.samples_used = 64;
  part.trials[0].epoch_boundary_s = 0.064;
  const Diagnosis diagnosis = first_of(part);
  CHECK(diagnosis.cause == Cause::epoch_boundary);
  CHECK(diagnosis.share_of_gap == Approx(1).epsilon(0.02));
  CHECK(*diagnosis.gain == Approx(1).epsilon(1e-3));
  const CauseText text = cause_text(diagnosis, part.config());
  CHECK_THAT(text.evidence(), ContainsSubstring("% of an epoch of 1,000,000 samples"));
  CHECK_THAT(text.remedy, ContainsSubstring("part of the data"));
}

}  // namespace
}  // namespace feedrate::diagnose_samples_tests
