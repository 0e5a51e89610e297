// SPDX-License-Identifier: Apache-2.0
// Tests of tune/diagnose/causes_workers.hpp and tune/diagnose/causes_threads.hpp: each cause,
// planted in evidence made by hand, is named first.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "planted_evidence.hpp"

namespace feedrate::diagnose_workers_tests {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using namespace testing;

TEST_CASE("No workers at all are no_overlap, with the measured gain", "[diagnose]") {
  // Bug: the framework's default is blamed on the data.
  Evidence serial = planted_evidence({}, 480, {.loader = 1000, .device = 1000});
  plant_choice(serial, Tier::safe, two_workers, 2);
  CHECK(causes_in(serial) == "no_overlap");
  CHECK(first_of(serial).measured);
}

TEST_CASE("A tier's choice is the remedy, resolved or not", "[diagnose]") {
  // Bug: "workers 4" as the remedy above "set workers 2": the luckiest trial goes before a choice
  // that short rounds could not resolve.
  Evidence serial = planted_evidence({}, 100, {.loader = 110, .device = 1000});
  plant_choice(serial, Tier::safe, two_workers, 1.9);
  serial.tiers[0].speedup.low = 0.9;
  serial.trials.push_back(planted_trial({.workers = 4, .prefetch = 4}, 210, 1000));
  CHECK(first_cause(serial) == "no_overlap");
  CHECK_THAT(first_text(serial).remedy, ContainsSubstring("workers 2"));
  serial.tiers[0].speedup = {1.02, 0.9, 1.2};  // too little to be named
  CHECK(first_cause(serial) != "no_overlap");
}

TEST_CASE("Without any measured worker no_overlap has the model's gain", "[diagnose]") {
  // Bug: a modelled gain that is called measured. 2 ms to load and 1 ms to step take 3 ms in turn
  // and 2 ms beside each other.
  const Diagnosis diagnosis =
      first_of(planted_evidence({}, 1000.0 / 3, {.loader = 500, .device = 1000}));
  CHECK(diagnosis.cause == Cause::no_overlap);
  CHECK_FALSE(diagnosis.measured);
  CHECK(*diagnosis.gain == Approx(1.5).epsilon(0.01));
}

TEST_CASE("If no number of workers is faster, the samples are the cause", "[diagnose]") {
  // Bug: workers recommended that were measured to be slower.
  Evidence serial = planted_evidence({}, 480, {.loader = 1000, .device = 1000});
  serial.trials.push_back(planted_trial(two_workers, 300, 1000));
  CHECK(causes_in(serial) == "data_starvation");
}

TEST_CASE("A loader that computes and gains by workers has too few of them", "[diagnose]") {
  // Bug: samples blamed for a loader that only lacks workers.
  Evidence few = starved();
  few.demands.loader = planted_loader(1e-2, 9e-3);
  plant_choice(few, Tier::safe, eight_workers, 3.8);
  CHECK(first_cause(few) == "too_few_workers");
  CHECK_THAT(first_text(few).remedy, ContainsSubstring("workers 8"));
}

TEST_CASE("No sample computes longer than it takes", "[diagnose]") {
  // Bug: "A sample takes 1.18 ms to load, 1.19 ms of it computing": two clocks, of which each errs.
  Evidence evidence = planted_evidence({}, 480, {.loader = 1000, .device = 1000});
  plant_choice(evidence, Tier::safe, two_workers, 2);
  evidence.demands.loader = planted_loader(1.18e-3, 1.19e-3);
  CHECK_THAT(first_text(evidence).evidence(),
             ContainsSubstring("takes 1.18 ms, all of it computing"));
  evidence.demands.loader = planted_loader(2e-3, 1e-3);
  CHECK_THAT(first_text(evidence).evidence(),
             ContainsSubstring("takes 2.00 ms, 1.00 ms of it computing"));
}

TEST_CASE("Samples that wait and gain by workers are waiting_samples", "[diagnose]") {
  // Bug: cores recommended for data that only wait.
  Evidence waiting = starved();
  waiting.demands.loader = planted_loader(1e-2, 1e-4);
  plant_choice(waiting, Tier::safe, eight_workers, 3.8);
  CHECK(first_cause(waiting) == "waiting_samples");
  CHECK(first_of(waiting).measured);
}

TEST_CASE("Samples that wait beside busy neighbours are samples that wait", "[diagnose]") {
  // Bug: a thread that is queued after each wake-up taken for one that computes: more workers are
  // refused to data that only wait. One worker sleeps for 0.3 of each second and is queued for
  // 0.69.
  Evidence waiting = starved();
  waiting.demands.loader = planted_loader(1e-2, 1e-4);
  plant_choice(waiting, Tier::safe, eight_workers, 3.8);
  waiting.probes = {planted_probe(1, 100, 0.01)};
  waiting.probes[0].round.queue_s = 0.69;
  CHECK(first_cause(waiting) == "waiting_samples");
  waiting.probes[0].round.cpu_s = 0.31;  // it computes all the time that it is let
  CHECK(first_cause(waiting) == "too_few_workers");
  waiting.probes[0].round.queue_s = 1.4;  // whoever drains the loader is queued as well
  CHECK(first_cause(waiting) == "too_few_workers");
}

TEST_CASE("A choice by paired rounds is a remedy however little it gains", "[diagnose]") {
  // Bug: 1.08 times as fast, shown by pairs, dropped by the noise of single trials.
  Evidence many = planted_evidence(eight_workers, 300, {.loader = 310, .device = 1000});
  many.environment.cpus = planted_cpus(2);
  many.noise = 0.09;
  plant_choice(many, Tier::safe, two_workers, 1.08);
  CHECK_THAT(causes_in(many), ContainsSubstring("too_many_workers"));
  many.tiers.clear();  // the same rate, but of a trial that is the luckiest of many
  CHECK_THAT(causes_in(many), !ContainsSubstring("too_many_workers"));
}

TEST_CASE("Waiting samples get workers that no trial had, by the model", "[diagnose]") {
  // Bug: nothing recommended because the space ended at the number of cores.
  Evidence waiting = starved();
  waiting.demands.loader = planted_loader(1e-2, 1e-4);
  waiting.demands.steps = {planted_step(Precision::fp32, 1e-6, 1e-3)};
  const Diagnosis diagnosis = first_of(waiting);
  CHECK(diagnosis.cause == Cause::waiting_samples);
  CHECK_FALSE(diagnosis.measured);
  CHECK(*diagnosis.gain > 3);
}

TEST_CASE("Workers beyond the cores that slow each other down are too many", "[diagnose]") {
  // Bug: more workers taken to be better.
  Evidence many = planted_evidence(eight_workers, 300, {.loader = 310, .device = 1000});
  many.environment.cpus = planted_cpus(2);
  many.trials.push_back(planted_trial(two_workers, 600, 1000));
  CHECK(first_cause(many) == "too_many_workers");
  CHECK_THAT(first_text(many).remedy, ContainsSubstring("workers 2"));
}

TEST_CASE("Workers that stay, and go with a change of their number, do not hide it", "[diagnose]") {
  // Bug: 16 workers of a script on 2 cores, no cause: the trials with fewer keep theirs.
  Config own = eight_workers, fewer = two_workers;
  own.persistent = false;
  fewer.persistent = true;
  Evidence many = planted_evidence(own, 300, {.loader = 310, .device = 1000});
  many.environment.cpus = planted_cpus(2);
  many.trials.push_back(planted_trial(fewer, 600, 1000));
  CHECK(first_cause(many) == "too_many_workers");
  own.persistent = true;  // as many that stay are as fast
  many.trials.push_back(planted_trial(own, 590, 1000));
  CHECK_THAT(causes_in(many), !ContainsSubstring("too_many_workers"));
}

TEST_CASE("No two causes ask for more workers and for fewer", "[diagnose]") {
  // Bug: "use fewer workers" and "use more workers" in the same list.
  Evidence both =
      planted_evidence({.workers = 4, .prefetch = 2}, 300, {.loader = 310, .device = 1000});
  both.demands.loader = planted_loader(1e-2, 1e-4);
  both.trials.push_back(planted_trial(two_workers, 450, 1000));
  CHECK_THAT(causes_in(both), ContainsSubstring("too_many_workers"));
  both.trials.push_back(planted_trial(eight_workers, 900, 1000));
  CHECK_THAT(causes_in(both), ContainsSubstring("waiting_samples"));
  CHECK_THAT(causes_in(both), !ContainsSubstring("too_many_workers"));
}

TEST_CASE("Workers chosen by visible CPUs under a quota are quota_below_cpus", "[diagnose]") {
  // Bug: a container's quota overlooked, so that nobody learns why 16 CPUs behave like 2.
  Evidence many =
      planted_evidence({.workers = 16, .prefetch = 2}, 300, {.loader = 310, .device = 1000});
  many.environment.cpus = planted_cpus(16, 2.0);
  many.trials.push_back(planted_trial(two_workers, 600, 1000));
  CHECK(first_cause(many) == "quota_below_cpus");
  CHECK_THAT(first_text(many).evidence(), ContainsSubstring("2 of 16 CPUs"));
}

TEST_CASE("Computing on all that a quota grants is quota_below_cpus too", "[diagnose]") {
  // Bug: "cheaper samples" recommended where only the container is small.
  Evidence bound = starved();
  bound.demands.loader = planted_loader(1e-2, 9.5e-3);
  bound.environment.cpus = planted_cpus(16, 2.0);
  const Diagnosis diagnosis = first_of(bound);
  CHECK(diagnosis.cause == Cause::quota_below_cpus);
  CHECK(*diagnosis.gain > 4);
}

TEST_CASE("Step threads on the cores of the workers are nested pools", "[diagnose]") {
  // Bug: workers blamed for what the step's own threads do.
  Evidence nested = planted_evidence({.workers = 2, .prefetch = 2, .step_threads = 2}, 400,
                                     {.loader = 2000, .device = 1000});
  nested.environment.cpus = planted_cpus(2);
  plant_choice(nested, Tier::safe, two_workers, 1.6);
  CHECK(first_cause(nested) == "nested_thread_pools");
  CHECK_THAT(first_text(nested).remedy, ContainsSubstring("step_threads 1"));
}

TEST_CASE("Fewer step threads that make a fed step faster are named", "[diagnose]") {
  // Bug: "The device is well fed" as the only reason beside "set step_threads 1, 2.3x as fast".
  Evidence fed = planted_evidence({.workers = 2, .prefetch = 2, .step_threads = 2}, 950,
                                  {.loader = 2000, .device = 1000});
  fed.environment.cpus = planted_cpus(2);
  Config calm{.workers = 2, .prefetch = 2, .step_threads = 1};
  calm.persistent = true;
  plant_choice(fed, Tier::safe, calm, 2.3);
  const Diagnosis diagnosis = first_of(fed);
  CHECK(diagnosis.cause == Cause::nested_thread_pools);
  CHECK(diagnosis.share_of_gap == 0);
  CHECK(*diagnosis.gain == 2.3);
  CHECK_THAT(first_text(fed).summary, ContainsSubstring("2 step threads and 2 workers share 2"));
}

TEST_CASE("Threads of a step that only hinder each other are named without workers", "[diagnose]") {
  // Bug: no reason at all where the script has no workers and others use the cores.
  Evidence alone = planted_evidence({.step_threads = 2}, 480, {.loader = 1e5, .device = 500});
  alone.environment.cpus = planted_cpus(2);
  plant_choice(alone, Tier::safe, {.step_threads = 1}, 2.0);
  CHECK(first_cause(alone) == "nested_thread_pools");
  CHECK(first_text(alone).summary == "Training is slower with 2 step threads than with 1.");
}

TEST_CASE("Pools within the workers that burn core-seconds are nested pools", "[diagnose]") {
  // Bug: OMP_NUM_THREADS=4 in each of two workers on two cores goes unnoticed: a sample takes
  // 10 ms of the cores with one worker, and 25 ms with two.
  Evidence nested = starved();
  nested.environment.cpus = planted_cpus(2);
  nested.environment.thread_pools = {{"OMP_NUM_THREADS", 4}};
  nested.probes = {planted_probe(1, 100, 1.0), planted_probe(2, 80, 2.0)};
  CHECK(first_cause(nested) == "nested_thread_pools");
  CHECK_THAT(first_text(nested).remedy, ContainsSubstring("OMP_NUM_THREADS=1"));
  nested.probes[1].round.cpu_s = 0.8;  // the same pool, but it costs nothing
  CHECK(first_cause(nested) == "data_starvation");
}

}  // namespace
}  // namespace feedrate::diagnose_workers_tests
