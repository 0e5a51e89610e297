// SPDX-License-Identifier: Apache-2.0
// A small report for the writers' tests.
#pragma once

#include "feedrate/report/report.hpp"
#include "feedrate/report/settings.hpp"

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
  report.workload.parts = {{"decode", 0.0015}, {"read", 0.0005}};
  report.space.workers = {0, 2};
  report.allowed = {Tier::safe};
  Outcome& outcome = report.outcome;
  outcome.trials = {example_trial({}, 1000), example_trial({.workers = 2, .prefetch = 4}, 2000)};
  outcome.trials.emplace_back().config = {.workers = 4, .prefetch = 4};
  outcome.tiers = {{Tier::safe, Standing::resolved, 1, {2, 1.9, 2.1}, {1}}};
  outcome.pairs = {{1, 0, {0.69, 0.64, 0.74}, Verdict::faster, 6}};
  outcome.verified = Interval{2, 1.95, 2.05};
  outcome.verified_rounds = 5;
  outcome.best_device = {{}, 3360};
  outcome.diagnoses = {
      {"no_overlap", 1, "The step waits 60 % of the time.", "Load in 2 workers.", 2}};
  outcome.not_applicable = {{"pinned", "on", "the cpu device reads batches where they lie"}};
  outcome.stopped_because = "settled";
  report.skips = {{17, "bad\xff.jpg", "it is truncated"}};
  report.settings = settings_for(outcome);
  report.next = {{"autotune --data DIR", "the same on your own files"}};
  return report;
}

}  // namespace feedrate::testing
