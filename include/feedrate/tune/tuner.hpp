// SPDX-License-Identifier: Apache-2.0
// The tuner: calibrate, scan, race, verify, explain.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/measure/pipeline.hpp"
#include "feedrate/tune/calibrate.hpp"
#include "feedrate/tune/diagnose.hpp"
#include "feedrate/tune/judge.hpp"
#include "feedrate/tune/scan.hpp"
#include "feedrate/tune/sweep.hpp"

namespace feedrate {
namespace detail {

/// Shares of the budget at which the race and the verification must be over.
inline constexpr double race_share = 0.8;
inline constexpr double verify_share = 1.0;

inline void refuse_nonsense(const TuneOptions& options) {
  if (!(options.budget_s > 0)) {
    throw Error(Fault::usage, "The budget must be a positive time, such as 60s.");
  }
  if (options.allowed.empty()) {
    throw Error(Fault::usage, "No tier is allowed to change: allow at least 'safe'.");
  }
}

/// Runs the recommended config against the reference five times more, in turn.
inline void verify(Sweep& sweep) {
  constexpr int repeats = 5;
  Outcome& outcome = sweep.outcome();
  if (outcome.tiers.empty() || outcome.choice().trial == outcome.reference) return;
  std::vector<double> ratios;
  for (int i = 0; i < repeats && !sweep.stopped(); ++i) {
    const auto ours = sweep.run(outcome.choice().trial, "verify");
    const auto theirs = sweep.run(outcome.reference, "verify");
    if (!ours || !theirs) return;
    ratios.push_back(std::exp(*ours - *theirs));
  }
  if (ratios.size() == repeats) outcome.verified = geometric_interval(ratios, 0.05);
}

/// Measures the ceilings of one trial afresh.
inline void measure_ceilings(Sweep& sweep, std::size_t index) {
  const Config config = sweep.trial(index).config;
  const auto alone = [&](auto part) {
    return sweep.try_part(config, "ceilings",
                          [&] { return (sweep.pipeline().*part)(config, sweep.round_options()); });
  };
  const auto loader = alone(&Pipeline::loader_alone);
  const auto device = alone(&Pipeline::device_alone);
  if (!loader || !device) return;
  const PartRate loads = PartRate::of(*loader);
  const PartRate steps = PartRate::of(*device);
  Trial& trial = sweep.trial(index);
  trial.ceilings = {loads.samples_per_s, {}, steps.samples_per_s, {}};
  if (config.workers > 0) trial.ceilings->cores = sweep.bounds().shared_cores(loads, steps);
  if (steps.samples_per_s > sweep.outcome().best_device.samples_per_s) {
    sweep.outcome().best_device = {config, steps.samples_per_s, false};
  }
}

/// What is reported of the reference and the recommended config beyond their rates.
inline void look_closer(Sweep& sweep) {
  Outcome& outcome = sweep.outcome();
  outcome.best_device = best_device(sweep, sweep.bounds());
  std::vector<std::size_t> trials = {outcome.reference};
  for (const TierChoice& choice : outcome.tiers) {
    if (std::find(trials.begin(), trials.end(), choice.trial) == trials.end()) {
      trials.push_back(choice.trial);
    }
  }
  for (const std::size_t trial : trials) {
    if (sweep.stopped() || sweep.trial(trial).rounds.empty()) return;
    measure_ceilings(sweep, trial);
    sweep.trial(trial).epoch_boundary_s =
        sweep.pipeline().epoch_boundary_s(sweep.trial(trial).config);
    sweep.trial(trial).memory_bytes = sweep.pipeline().memory_bytes(sweep.trial(trial).config);
  }
}

inline void explain(Sweep& sweep) {
  Outcome& outcome = sweep.outcome();
  if (outcome.tiers.empty()) return;
  std::tie(outcome.diagnoses, outcome.unexplained_share) =
      diagnose(outcome.trials[outcome.reference], outcome.recommended());
}

inline std::string why_stopped(const Sweep& sweep) {
  if (sweep.stopped()) return "interrupted";
  return sweep.is_past(race_share) ? "budget" : "settled";
}

inline void refuse_all_failed(const Outcome& outcome) {
  std::string first;
  for (const Trial& trial : outcome.trials) {
    if (!trial.rounds.empty()) return;
    if (first.empty()) first = trial.reason;
  }
  if (outcome.interrupted) return;
  throw Error(Fault::trials, "Every trial failed; the first because: " + first);
}

}  // namespace detail

/// Finds the config of the space that serves the objective best, within the budget.
///
/// Throws Error(usage) on options that make no sense, Error(trials) when every trial failed,
/// Error(interrupted) on abort. A `stop` returns what is known, with `interrupted` set.
inline Outcome tune(Pipeline& pipeline, const TuneOptions& options) {
  detail::refuse_nonsense(options);
  Sweep sweep(pipeline, options);
  calibrate(sweep);
  scan(sweep);
  Judge judge(sweep);
  judge.run(detail::race_share);
  judge.conclude();
  sweep.outcome().stopped_because = detail::why_stopped(sweep);
  detail::look_closer(sweep);
  detail::verify(sweep);
  detail::explain(sweep);
  sweep.outcome().interrupted = sweep.stopped();
  sweep.outcome().wall_s = sweep.elapsed_s();
  detail::refuse_all_failed(sweep.outcome());
  return std::move(sweep.outcome());
}

}  // namespace feedrate
