// SPDX-License-Identifier: Apache-2.0
// Tests of tune/diagnose/causes_coupling.hpp and tune/diagnose/causes_placement.hpp: each cause,
// planted in evidence made by hand, is named first.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "planted_evidence.hpp"

namespace feedrate::diagnose_coupling_tests {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using namespace testing;

TEST_CASE("Pageable memory is the cause where pinned memory copies faster", "[diagnose]") {
  // Bug: the loader blamed for the copies.
  Evidence pageable =
      planted_evidence(two_workers, 290, {.loader = 4000, .copy = 300, .device = 1000});
  pageable.demands.copy_pageable = 300;
  pageable.demands.copy_pinned = 5000;
  const Diagnosis diagnosis = first_of(pageable);
  CHECK(diagnosis.cause == Cause::pageable_copies);
  CHECK_FALSE(diagnosis.measured);
  CHECK(*diagnosis.gain == Approx(3.1).epsilon(0.05));
  Config pinned = two_workers;
  pinned.pinned = true;
  plant_choice(pageable, Tier::safe, pinned, 2.9);
  CHECK(first_of(pageable).measured);
  CHECK(*first_of(pageable).gain == Approx(2.9));
}

TEST_CASE("Pinned copies that are the lowest ceiling are starvation by copies", "[diagnose]") {
  // Bug: pinning recommended to those who have it.
  Config pinned = two_workers;
  pinned.pinned = true;
  Evidence copying = planted_evidence(pinned, 290, {.loader = 4000, .copy = 300, .device = 1000});
  copying.demands.copy_pinned = 300;
  CHECK(causes_in(copying) == "data_starvation.copy");
}

TEST_CASE("Copy and step that add up are a synchronising step", "[diagnose]") {
  // Bug: interference without a name where the host waits for the device. 1 ms + 1 ms.
  Config pinned = two_workers;
  pinned.pinned = true;
  Evidence waiting = planted_evidence(pinned, 505, {.loader = 9000, .copy = 1000, .device = 1000});
  CHECK(causes_in(waiting) == "host_sync");
  CHECK(diagnose(waiting).second < 0.1);
}

TEST_CASE("A caller that stages and launches in turn is limited by the staging", "[diagnose]") {
  // Bug: a synchronising step blamed for what the caller does itself: a sample takes 1 ms to stage,
  // 0.65 ms to launch, and 1 ms on the device, which goes on meanwhile.
  Evidence staging =
      planted_evidence(two_workers, 1000 / 1.65, {.loader = 9000, .copy = 1000, .device = 1000});
  staging.demands.steps = {planted_step(Precision::fp32, 0, 1e-3)};
  staging.demands.steps[0].launch_s = 0.65e-3 * two_workers.batch;
  staging.demands.copy_pageable = 1000;
  staging.demands.copy_pinned = 5000;
  CHECK(causes_in(staging) == "pageable_copies");
  CHECK(*first_of(staging).gain == Approx(1.65).epsilon(0.01));
}

TEST_CASE("With workers the lowest ceiling names the cores that both want", "[diagnose]") {
  // Bug: starvation named where the cores are what both want.
  const Evidence crowded =
      planted_evidence(two_workers, 195, {.loader = 400, .device = 1000, .cores = 200});
  CHECK(causes_in(crowded) == "shared_cores data_starvation");
}

TEST_CASE("A loader that fills all cores alone is not said to share them", "[diagnose]") {
  // Bug: the step blamed for cores that it hardly wants: the bound of the cores is the loader's.
  const Evidence filled =
      planted_evidence(two_workers, 195, {.loader = 200, .device = 10'000, .cores = 196});
  CHECK(causes_in(filled) == "data_starvation");
}

/// 1000 samples/s alone, 500 together; `cores_used` are busy, and a sample takes `cpu_s` of them
/// where both parts alone take 1 ms.
Evidence interfering(double cores_used, double cpu_s, double step_s) {
  Evidence evidence = planted_evidence(two_workers, 500, {.loader = 4000, .device = 1000});
  evidence.demands.loader = planted_loader(5e-4, 5e-4);
  StepDemand step = planted_step(Precision::fp32, 0, 1e-3);
  step.cpu_s = 5e-4;
  evidence.demands.steps = {step};
  evidence.environment.cpus = planted_cpus(4);
  for (Round& round : evidence.trials[0].rounds) {
    round.samples = 500;
    round.step_s = 500 * step_s;
    round.wait_s = 1 - round.step_s;
    round.cpu_s = 500 * cpu_s;
    round.duration_s = round.cpu_s / cores_used;
  }
  evidence.trials[0].ceilings->coupled = 500;
  return evidence;
}

TEST_CASE("Interference with more core-seconds is memory bandwidth", "[diagnose]") {
  // Bug: interference that names nothing although the evidence does.
  const Evidence hog = interfering(2, 2e-3, 2e-3);
  CHECK(causes_in(hog) == "interference.memory_bandwidth");
  CHECK(diagnose(hog).second < 0.1);
}

TEST_CASE("Interference with busy cores and equal core-seconds is for cores", "[diagnose]") {
  // Bug: memory blamed for cores.
  CHECK(causes_in(interfering(3.9, 1e-3, 2e-3)) == "interference.cores");
}

TEST_CASE("Cores that other processes hold are not blamed on loader and step", "[diagnose]") {
  // Bug: "use fewer workers" to a pipeline that hardly computes, because neighbours made its
  // threads wait for a core. The same queue is its own where it uses a core and a half of four.
  Evidence held = interfering(0.05, 1e-5, 2e-3);
  for (Round& round : held.trials[0].rounds) round.queue_s = 500 * 1.5e-3;
  CHECK(causes_in(held) == "interference.other_processes");
  CHECK_THAT(first_text(held).remedy, ContainsSubstring("Other processes"));
  Evidence own = interfering(1.5, 1e-3, 2e-3);
  for (Round& round : own.trials[0].rounds) round.queue_s = 500 * 1.5e-3;
  CHECK(causes_in(own) == "interference.cores");
}

TEST_CASE("Interference while cores idle is a lock", "[diagnose]") {
  // Bug: cores recommended to threads that wait for each other.
  CHECK(causes_in(interfering(0.5, 1e-3, 2e-3)) == "interference.lock");
}

TEST_CASE("Interference without any of these stays unlocated and unexplained", "[diagnose]") {
  // Bug: a shared thing made up. Two of four cores are in use and the step is as fast as ever.
  const Evidence unknown = interfering(2, 1e-3, 1e-3);
  CHECK(causes_in(unknown) == "interference");
  CHECK(diagnose(unknown).second > 0.9);
}

TEST_CASE("Idle workers that together load no more than one wait for a lock", "[diagnose]") {
  // Bug: more workers recommended to a loader that goes one at a time.
  Evidence locked = starved();
  locked.demands.loader = planted_loader(4.8e-3, 4.7e-3, 0.95);
  locked.environment.cpus = planted_cpus(4);
  locked.probes = {planted_probe(1, 208, 0.98), planted_probe(4, 210, 1.0)};
  CHECK(first_cause(locked) == "interference.lock");
  locked.probes[1].round.cpu_s = 3.9;  // they compute after all: no lock
  CHECK(first_cause(locked) == "data_starvation");
}

}  // namespace
}  // namespace feedrate::diagnose_coupling_tests
