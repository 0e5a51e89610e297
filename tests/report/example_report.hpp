// SPDX-License-Identifier: Apache-2.0
// A small report for the writers' tests.
#pragma once

#include "feedrate/report/report.hpp"
#include "feedrate/report/text/settings.hpp"

namespace feedrate::testing {

inline Trial example_trial(const Config& config, std::uint64_t samples_per_s) {
  Trial trial;
  trial.config = config;
  trial.status = TrialStatus::measured;
  for (std::uint64_t i = 0; i < 3; ++i) {
    trial.rounds.push_back({.duration_s = 1, .samples = samples_per_s + i, .step_s = 0.4});
  }
  trial.ceilings = Ceilings{.loader = 1500, .copy = {}, .device = 3360, .cores = 2000};
  trial.epoch_boundary_s = 0.001;
  return trial;
}

/// Two configs, of which the second is twice as fast and recommended in the tier safe.
inline Report example_report() {
  Report report;
  report.tool = {"0.1.0", "abc", "autotune", "2026-01-01T00:00:00Z", 0, 61};
  report.machine.limits.cpus.visible = report.machine.limits.cpus.usable = 2;
  report.workload.name = "images";
  report.workload.kind = "builtin";
  report.workload.load = LoadCosts{.read_s = 0.0002, .decode_s = 0.0014, .augment_s = 0.0004};
  report.space.workers = {0, 2};
  report.allowed = {Tier::safe};
  Outcome& outcome = report.outcome;
  outcome.trials = {example_trial({}, 1000), example_trial({.workers = 2, .prefetch = 4}, 2000)};
  outcome.trials.emplace_back().config = {.workers = 4, .prefetch = 4};
  outcome.trials[0].memory_bytes = 5 << 20;
  outcome.trials[1].memory_bytes = 9 << 20;
  outcome.trials[1].predicted_samples_per_s = 2100;
  outcome.tiers = {{Tier::safe, Confidence::resolved, 1, {2, 1.9, 2.1}, {1}, 0}};
  outcome.pareto = {0, 1};
  outcome.rounds = 8;
  outcome.pairs = {{1, 0, {0.69, 0.64, 0.74}, Verdict::faster, 6}};
  outcome.verified = Interval{2, 1.95, 2.05};
  outcome.verified_rounds = 5;
  outcome.best_device = {{}, 3360};
  outcome.diagnoses = {{.cause = Cause::no_overlap,
                        .share_of_gap = 1,
                        .gain = 2,
                        .measured = true,
                        .numbers = {.waiting_share = 0.6},
                        .remedy = outcome.trials[1].config}};
  outcome.not_applicable = {{"pinned", "on", "the cpu device reads batches where they lie"}};
  outcome.race_end = RaceEnd::settled;
  report.skips = {{17, "bad\xff.jpg", "it is truncated"}};
  report.settings = settings_for(report);
  report.next = {{"autotune --data DIR", "the same on your own files"}};
  return report;
}

/// With everything that a report can hold: a batch that accumulates, probes and their model, an
/// emulated accelerator, what-ifs, constraints.
inline Report full_report() {
  Report report = example_report();
  report.allowed = {Tier::safe, Tier::numerics, Tier::training};
  report.constraints = {std::uint64_t{1} << 30, std::uint64_t{1} << 33, 8, 64, 64};
  report.price = Price{3.5, "EUR"};
  report.accelerator = accelerator_named("h100/resnet50");
  Outcome& outcome = report.outcome;
  const Config wide{
      .workers = 2, .prefetch = 4, .precision = Precision::bf16, .batch = 16, .accumulate = 4};
  outcome.trials.push_back(example_trial(wide, 2400));
  outcome.trials.emplace_back().config = {.batch = 64};
  outcome.trials.back().status = TrialStatus::infeasible;
  outcome.trials.back().reason = {Why::memory, {}, std::uint64_t{2} << 30, std::uint64_t{1} << 30};
  Trial& reference = outcome.trials[0];
  reference.config.accumulate = 2;
  reference.predicted_samples_per_s = 940;
  reference.ceilings->coupled = 990;
  for (Round& round : reference.rounds) round.energy_j = 50;
  outcome.tiers.push_back({Tier::numerics, Confidence::tied, 3, {2.4, 2.3, 2.5}, {3, 1}, 0.018});
  outcome.probes = {
      {Part::loader, {.workers = 1, .prefetch = 4}, Variant::as_is, reference.rounds[0]}};
  outcome.demands.cores = 2;
  outcome.demands.loader =
      LoadDemand{{900, 0.1, 0.01}, {}, {{1, 900}, {2, 1700}}, 0.001, 0.001, 0.1};
  outcome.demands.steps = {{Precision::fp32, 1, false, {1e-3, 1e-4}, {{32, 0.0042}}, 1e-4, 0.01}};
  outcome.demands.loader->preprocess_factor[Preprocess::host] = 0.4;
  outcome.demands.loader->cpu_s_by_workers = {{1, 0.001}, {2, 0.0009}};
  outcome.demands.copy_pinned = 88'000;
  outcome.demands.copy_factor[Preprocess::host] = 0.25;
  outcome.what_if = {{"decoded", reference.config, 3100, {3.1, 3.0, 3.2}}};
  outcome.diagnoses.push_back({.cause = Cause::interference,
                               .share_of_gap = 0.2,
                               .gain = 1.1,
                               .where = Where::cores,
                               .numbers = {.below_ceiling_share = 0.1,
                                           .cores = 2,
                                           .cores_used = 1.9,
                                           .has_core_share = 0.8,
                                           .step_slowdown = 1.2,
                                           .cpu_inflation = 1}});
  report.settings = settings_for(report);
  return report;
}

}  // namespace feedrate::testing
