// SPDX-License-Identifier: Apache-2.0
// Tests of tune/diagnose/diagnose.hpp and tune/diagnose/evidence.hpp: the account of the time and
// how it is shared out. The single causes are in diagnose_feeding.cpp and diagnose_device.cpp.
#include "feedrate/tune/diagnose/diagnose.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <random>
#include <set>

#include "planted_evidence.hpp"

namespace feedrate::diagnose_tests {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using namespace testing;

TEST_CASE("A well-fed device gets no diagnosis", "[diagnose]") {
  // Bug: a pipeline that is fine and gets a diagnosis all the same.
  CHECK(causes_in(planted_evidence(two_workers, 950, {.loader = 3000, .device = 1000})).empty());
  // Without workers, where loading is cheap beside the step.
  CHECK(causes_in(planted_evidence({}, 940, {.loader = 20'000, .device = 1000})).empty());
  // A device of its own, faster copies, and workers to spare.
  CHECK(
      causes_in(planted_evidence(two_workers, 970, {.loader = 4000, .copy = 9000, .device = 1000}))
          .empty());
  // The ceilings of another moment: faster together than alone.
  CHECK(causes_in(planted_evidence(two_workers, 1100, {.loader = 1050, .device = 1000})).empty());
}

TEST_CASE("A well-fed device gets no diagnosis without a loss", "[diagnose]") {
  // Bug: facts that cost nothing named as causes: a quota, pools, pageable memory, other
  // processes, a cold cache.
  Evidence fine =
      planted_evidence(two_workers, 960, {.loader = 4000, .copy = 9000, .device = 1000});
  fine.demands.loader = planted_loader(2.5e-4, 2e-4);
  fine.demands.steps = {planted_step(Precision::fp32, 1e-4, 1e-3)};
  fine.demands.copy_pageable = 9000;
  fine.demands.copy_pinned = 40'000;
  fine.environment.cpus = planted_cpus(16, 2.0);
  fine.environment.thread_pools = {{"OMP_NUM_THREADS", 16}};
  fine.environment.cold = true;
  fine.environment.reads = ReadSpeeds{1e8, 1e10, 1e3};
  fine.environment.load = LoadCosts{1e-5, 2e-4, 4e-5};
  fine.environment.gpu = GpuState{{"power cap"}, 1.9e9, 1.98e9, 2, 0.01};
  CHECK(causes_in(fine).empty());
}

TEST_CASE("A gap within the noise of the machine is none", "[diagnose]") {
  // Bug: interference named on a machine whose rounds differ by more than the gap.
  Evidence noisy = planted_evidence(two_workers, 800, {.loader = 2000, .device = 1000});
  CHECK(first_cause(noisy) == "interference");
  noisy.noise = 0.12;
  CHECK(causes_in(noisy).empty());
  noisy.noise = 0;
  for (const double rate : {800, 1000, 1200}) {  // of the same part and config, minutes apart
    Probe probe = planted_probe(2, 1000, 1);
    probe.round.samples = static_cast<std::uint64_t>(rate);
    noisy.probes.push_back(probe);
  }
  CHECK(causes_in(noisy).empty());
}

TEST_CASE("No noise is so large that a device that is half idle looks fed", "[diagnose]") {
  // Bug: one outlier, or an unknown noise, that hides every cause.
  Evidence starving = planted_evidence(two_workers, 400, {.loader = 410, .device = 1000});
  starving.noise = std::numeric_limits<double>::infinity();
  CHECK(first_cause(starving) == "data_starvation");
  starving.noise = 2;
  CHECK(first_cause(starving) == "data_starvation");
}

TEST_CASE("An emulated accelerator is well fed at the utilization that it wants", "[diagnose]") {
  // Bug: "well fed" beside "below the 90 % wanted", or the reverse where 70 % are wanted.
  Evidence starving = planted_evidence(two_workers, 800, {.loader = 820, .device = 1000});
  starving.noise = 0.12;
  CHECK(causes_in(starving).empty());
  starving.environment.emulated = true;
  starving.environment.wanted = 0.9;
  CHECK(first_cause(starving) == "data_starvation");
  starving.environment.wanted = 0.7;
  CHECK(causes_in(starving).empty());
}

TEST_CASE("An affinity mask below the quota is the number of cores", "[diagnose]") {
  // Bug: 16 cores counted of which the process may use 2; or half a core lost to rounding.
  Evidence bound = planted_evidence(two_workers, 500, {.loader = 3000, .device = 1000});
  bound.environment.cpus = planted_cpus(16, 16.0);
  bound.environment.cpus->affinity = bound.environment.cpus->usable = 2;
  CHECK(bound.cores() == 2);
  bound.environment.cpus->quota = 1.5;
  CHECK(bound.cores() == 1.5);
}

TEST_CASE("Causes written into an outcome use its what-ifs", "[diagnose]") {
  // Bug: what-ifs that are measured after the diagnosis and never reach it.
  const Evidence starved = planted_evidence(two_workers, 196, {.loader = 200, .device = 1000});
  Outcome outcome;
  outcome.trials = starved.trials;
  outcome.what_if = {{"decoded", two_workers, 588, {3, 2.9, 3.1}}};
  diagnose(outcome, {});
  CHECK(outcome.diagnoses.empty());  // nothing is recommended: too little is known
  outcome.tiers.resize(1);
  diagnose(outcome, {});
  REQUIRE_FALSE(outcome.diagnoses.empty());
  CHECK(outcome.diagnoses[0].cause == Cause::preprocess_offline);
  CHECK(outcome.diagnoses[0].measured);
  outcome.what_if.clear();
  diagnose(outcome, {});
  CHECK(outcome.diagnoses.at(0).cause == Cause::data_starvation);
}

TEST_CASE("Ceilings are compared with rates measured in turn with them", "[diagnose]") {
  // Bug: a machine that slowed down between race and ceilings shows a gap that is none.
  Evidence drifted = planted_evidence(two_workers, 600, {.loader = 3000, .device = 1000});
  drifted.trials[0].ceilings->coupled = 980;
  CHECK(causes_in(drifted).empty());
}

TEST_CASE("Without workers the caller's loading is the gap", "[diagnose]") {
  // Bug: a share that does not follow from the times. Per sample: 10 ms coupled, 2 ms of them the
  // step: a gap of 8 ms. Two workers take 10 - 10 / 2.4 = 5.83 ms of it, and the loader, still
  // slower than the device, is the rest.
  Evidence serial = planted_evidence({}, 100, {.loader = 125, .device = 500});
  plant_choice(serial, Tier::safe, two_workers, 2.4);
  const auto [diagnoses, open] = diagnose(serial);
  REQUIRE(diagnoses.size() == 2);
  CHECK(diagnoses[0].cause == Cause::no_overlap);
  CHECK(diagnoses[0].share_of_gap == Approx((10 - 10 / 2.4) / 8).epsilon(1e-3));
  CHECK(*diagnoses[0].gain == Approx(2.4));
  CHECK(diagnoses[0].measured);
  CHECK_THAT(cause_text(diagnoses[0], {}).remedy, ContainsSubstring("workers 2, prefetch 2"));
  CHECK(diagnoses[1].cause == Cause::data_starvation);
  CHECK(diagnoses[0].share_of_gap + diagnoses[1].share_of_gap == Approx(1).epsilon(1e-3));
  CHECK(open == Approx(0).margin(1e-3));
}

TEST_CASE("A loss below every ceiling is named, and unexplained if its reason is unknown",
          "[diagnose]") {
  // Bug: interference that is explained away. Per sample: 10 ms coupled, the loader allows 5, the
  // device 1: 4 of the 9 ms are starvation, 5 are not.
  const Evidence slowed = planted_evidence(two_workers, 100, {.loader = 200, .device = 1000});
  const auto [diagnoses, open] = diagnose(slowed);
  REQUIRE(diagnoses.size() == 2);
  CHECK(diagnoses[0].cause == Cause::interference);
  CHECK(diagnoses[0].where == Where::unknown);
  CHECK(diagnoses[0].share_of_gap == Approx(5.0 / 9).epsilon(1e-3));
  CHECK(diagnoses[1].cause == Cause::data_starvation);
  CHECK(open == Approx(5.0 / 9).epsilon(1e-3));
}

TEST_CASE("What was not measured is not diagnosed", "[diagnose]") {
  // Bug: a crash, or a cause out of nothing, where the sweep was stopped early.
  CHECK(causes_in(Evidence{}).empty());
  Evidence early = planted_evidence(two_workers, 100, {.loader = 200, .device = 1000});
  early.trials[0].ceilings.reset();
  CHECK(causes_in(early).empty());
  early = planted_evidence(two_workers, 100, {.loader = 200, .device = 1000});
  early.trials[0].rounds.clear();
  CHECK(causes_in(early).empty());
}

TEST_CASE("Evidence of an outcome is all that the outcome holds", "[diagnose]") {
  // Bug: a part of the outcome that never reaches the causes.
  Outcome outcome;
  outcome.trials = {planted_trial({}, 10, 20), planted_trial(two_workers, 20, 20)};
  outcome.reference = 1;
  outcome.probes = {planted_probe(1, 10, 1)};
  outcome.demands.copy_pinned = 7;
  outcome.what_if = {{"decoded", two_workers, 30, {1.5, 1.4, 1.6}}};
  outcome.tiers.resize(1);
  outcome.noise = 0.03;
  Environment around;
  around.emulated = true;
  const Evidence evidence = evidence_of(outcome, around);
  CHECK(evidence.config() == two_workers);
  CHECK(evidence.probes.size() == 1);
  CHECK(evidence.demands.copy_pinned == 7);
  CHECK(evidence.what_if.size() == 1);
  CHECK(evidence.tiers.size() == 1);
  CHECK(evidence.noise == 0.03);
  CHECK(evidence.environment.emulated);
}

/// Evidence of which every number is drawn, over six orders of magnitude.
class RandomEvidence {
 public:
  explicit RandomEvidence(unsigned seed) : random_(seed) {}

  Evidence draw() {
    Evidence evidence = planted_evidence(config(), rate(), ceilings());
    for (int i = below(4); i > 0; --i) {
      plant_choice(evidence, static_cast<Tier>(below(3)), config(), rate() / 1e3);
    }
    evidence.trials[0].rounds[0].step_s = rate() / 1e4;
    evidence.trials[0].rounds[0].cpu_s = rate() / 1e4;
    evidence.trials[0].epoch_boundary_s = rate() / 1e4 - 1;
    evidence.trials[0].memory_bytes = static_cast<std::size_t>(rate());
    if (flip()) evidence.demands.loader = planted_loader(1 / rate(), 1 / rate(), rate() / 1e5);
    for (int i = below(3); i > 0; --i) {
      evidence.demands.steps.push_back(
          planted_step(static_cast<Precision>(below(4)), 1 / rate(), 1 / rate()));
      evidence.demands.steps.back().graph = flip();
    }
    if (flip()) evidence.demands.copy_pinned = rate();
    if (flip()) evidence.demands.copy_pageable = rate();
    evidence.demands.cores = 1 + below(8);
    for (const char* name : {"decoded", "unaugmented"}) {
      const double gain = rate() / 1e3;
      if (flip()) evidence.what_if.push_back({name, evidence.config(), 1, {gain, gain, gain}});
    }
    for (const int workers : {1, 2, 4}) {
      evidence.probes.push_back(
          planted_probe(workers, static_cast<std::uint64_t>(rate()), rate() / 1e3));
      if (flip()) evidence.probes.back().round.queue_s = rate() / 1e3;
    }
    evidence.environment = environment();
    return evidence;
  }

 private:
  int below(int n) { return std::uniform_int_distribution(0, n - 1)(random_); }
  bool flip() { return below(2) == 1; }
  double rate() { return std::pow(10, std::uniform_real_distribution(0.5, 6.0)(random_)); }

  Config config() {
    return {.workers = below(5),
            .prefetch = 2,
            .pinned = flip(),
            .step_threads = 1 + below(2),
            .graph = flip(),
            .preprocess = static_cast<Preprocess>(below(2)),
            .precision = static_cast<Precision>(below(4)),
            .batch = 32 << below(5)};
  }

  Ceilings ceilings() {
    Ceilings ceilings{.loader = rate(), .device = rate()};
    if (flip()) ceilings.copy = rate();
    if (flip()) ceilings.cores = rate();
    return ceilings;
  }

  Environment environment() {
    Environment around;
    if (flip()) around.cpus = planted_cpus(8, flip() ? std::optional(2.0) : std::nullopt);
    if (flip()) around.load = LoadCosts{1 / rate(), 1 / rate(), 1 / rate()};
    if (flip()) around.reads = ReadSpeeds{rate(), rate(), rate()};
    if (flip()) around.thread_pools = {{"OMP_NUM_THREADS", 1 + below(8)}};
    if (flip()) around.gpu = GpuState{{}, rate(), rate(), below(3), rate() / 1e6};
    if (flip()) around.memory_free_bytes = static_cast<std::uint64_t>(rate());
    around.samples_per_epoch = static_cast<std::uint64_t>(rate());
    if (flip()) around.samples_used = static_cast<std::uint64_t>(rate());
    if (flip()) around.wanted = 0.7;
    around.cold = flip();
    around.emulated = flip();
    return around;
  }

  std::mt19937 random_;
};

/// Whether no number is missing in a sentence: an unknown one is written as "-".
bool is_whole(const std::string& text) {
  const auto holds = [&](const char* part) { return text.find(part) != std::string::npos; };
  return text.ends_with('.') && !holds(" - ") && !holds(" -x") && !holds(" -,") && !holds(" -.");
}

TEST_CASE("Shares are shares, whatever the evidence", "[diagnose]") {
  // Bug: two causes that claim the same time, a negative share, a gain that is not a number, or a
  // sentence without the number that it speaks of.
  RandomEvidence random(1);
  std::set<Cause> named;
  for (int i = 0; i < 20'000; ++i) {
    const Evidence evidence = random.draw();
    const auto [diagnoses, open] = diagnose(evidence);
    double sum = 0;
    bool sound = open >= 0 && open <= 1;
    for (const Diagnosis& diagnosis : diagnoses) {
      sum += diagnosis.share_of_gap;
      sound = sound && diagnosis.share_of_gap >= 0 && diagnosis.share_of_gap <= 1;
      const CauseText text = cause_text(diagnosis, evidence.config());
      sound = sound && is_whole(text.evidence()) && is_whole(text.remedy);
      sound = sound && (!diagnosis.gain || (*diagnosis.gain > 0 && std::isfinite(*diagnosis.gain)));
      named.insert(diagnosis.cause);
    }
    INFO("draw " << i << ": " << causes_in(evidence));
    REQUIRE(sound);
    REQUIRE(sum <= 1 + 1e-9);
  }
  CHECK(named.size() == 21);  // the draws reach every cause there is
}

TEST_CASE("The first diagnosis takes most of the gap", "[diagnose]") {
  // Bug: causes in the order of their names or of the code. A slow loader, and a little of it
  // because reading past the page cache takes 0.5 of the 5 ms.
  Evidence slow = planted_evidence(two_workers, 195, {.loader = 200, .device = 1000});
  slow.environment.cold = true;
  slow.environment.reads = ReadSpeeds{2e6, 1e12, 1e3};
  CHECK(causes_in(slow) == "data_starvation storage_slow.read");
}

}  // namespace
}  // namespace feedrate::diagnose_tests
