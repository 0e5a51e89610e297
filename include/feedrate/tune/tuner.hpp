// SPDX-License-Identifier: Apache-2.0
// The tuner: calibrate, scan, race, verify, explain.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "feedrate/tune/calibrate.hpp"
#include "feedrate/tune/diagnose.hpp"
#include "feedrate/tune/judge.hpp"
#include "feedrate/tune/scan.hpp"
#include "feedrate/tune/sweep.hpp"

namespace feedrate {
namespace detail {

/// Shares of the budget at which the race ends and beyond which nothing more is verified: a little
/// more than all of it, so that a slow reference costs repeats before it costs the verification.
inline constexpr double race_share = 0.75;
inline constexpr double verify_share = 1.2;

inline void refuse_nonsense(const TuneOptions& options) {
  if (!(options.budget_s > 0)) {
    throw Error(Fault::usage, "The budget must be a positive time, such as 60s.");
  }
  if (options.allowed.empty()) {
    throw Error(Fault::usage, "No tier is allowed to change: allow at least 'safe'.");
  }
}

/// One more pair of rounds of the recommended config and the reference; the log-ratio of their
/// rates. They take turns in going first, so that a steady drift cancels.
inline std::optional<double> verify_once(Sweep& sweep, bool reference_first) {
  const std::size_t ours = sweep.outcome().choice().trial;
  const std::size_t theirs = sweep.outcome().reference;
  const auto first = sweep.run(reference_first ? theirs : ours, "verify");
  const auto second = sweep.run(reference_first ? ours : theirs, "verify");
  if (!first || !second) return std::nullopt;
  return reference_first ? second->rate - first->rate : first->rate - second->rate;
}

/// Runs the recommended config against the reference five times more, in turn.
inline void verify(Sweep& sweep) {
  constexpr int repeats = 5;
  Outcome& outcome = sweep.outcome();
  if (outcome.tiers.empty() || outcome.choice().trial == outcome.reference) return;
  std::vector<double> ratios;
  while (std::ssize(ratios) < repeats && !sweep.stopped() && !sweep.is_past(verify_share)) {
    const auto ratio = verify_once(sweep, std::ssize(ratios) % 2 == 1);
    if (!ratio) return;
    ratios.push_back(std::exp(*ratio));
  }
  if (ratios.size() < 2) return;
  outcome.verified = geometric_interval(ratios, 0.05);
  outcome.verified_rounds = static_cast<int>(ratios.size());
}

/// Measures the ceilings of one trial afresh.
inline void measure_ceilings(Sweep& sweep, std::size_t index) {
  const Config config = sweep.trial(index).config;
  const auto alone = [&](Part part) {
    return sweep.try_part(config, "ceilings", [&] {
      return sweep.measurer().run({part, config, sweep.round_options()});
    });
  };
  const auto loader = alone(Part::loader);
  const auto device = alone(Part::device);
  if (!loader || !device) return;
  const PartRate loads = PartRate::of(*loader);
  const PartRate steps = PartRate::of(*device);
  Trial& trial = sweep.trial(index);
  trial.ceilings = {loads.samples_per_s, {}, steps.samples_per_s, {}};
  if (config.workers > 0) trial.ceilings->cores = sweep.bounds().shared_cores(loads, steps);
  if (steps.samples_per_s > sweep.outcome().best_device.samples_per_s) {
    sweep.outcome().best_device = {config, steps.samples_per_s};
  }
}

/// The fastest step of the calibration, measured once more: the luck by which it won is left out.
inline void freeze_best_device(Sweep& sweep) {
  const Config config = best_device(sweep, sweep.bounds()).config;
  const auto round = sweep.try_part(config, "ceilings", [&] {
    return sweep.measurer().run({Part::device, config, sweep.round_options()});
  });
  if (round) sweep.outcome().best_device = {config, round->samples_per_s()};
}

/// What is reported of a trial beyond its rate. That one part of it fails is no reason to lose
/// what is known.
inline void look_at(Sweep& sweep, std::size_t index) {
  measure_ceilings(sweep, index);
  Trial& trial = sweep.trial(index);
  try {
    trial.memory_bytes = sweep.measurer().memory_bytes(trial.config);
    if (sweep.is_past(1)) return;
    trial.epoch_boundary_s = sweep.measurer().epoch_boundary_s(trial.config);
  } catch (const std::exception& error) {
    trial.reason = std::string("its epoch boundary was not measured: ") + error.what();
  }
}

inline void look_closer(Sweep& sweep) {
  Outcome& outcome = sweep.outcome();
  std::vector<std::size_t> trials = {outcome.reference};
  for (const TierChoice& choice : outcome.tiers) {
    if (std::find(trials.begin(), trials.end(), choice.trial) == trials.end()) {
      trials.push_back(choice.trial);
    }
  }
  if (!sweep.stopped()) freeze_best_device(sweep);
  for (const std::size_t trial : trials) {
    if (!sweep.stopped() && !sweep.trial(trial).rounds.empty()) look_at(sweep, trial);
  }
}

inline void explain(Sweep& sweep) {
  Outcome& outcome = sweep.outcome();
  if (outcome.tiers.empty()) return;
  const TierChoice& safe = outcome.tiers.front();
  std::tie(outcome.diagnoses, outcome.unexplained_share) =
      diagnose(outcome.trials[outcome.reference], outcome.trials[safe.trial], safe.speedup);
}

/// What is known is saved first: the reasons are in it.
inline void refuse_all_failed(Sweep& sweep) {
  const Outcome& outcome = sweep.outcome();
  std::string first;
  for (const Trial& trial : outcome.trials) {
    if (!trial.rounds.empty()) return;
    if (first.empty()) first = trial.reason;
  }
  if (outcome.interrupted) return;
  if (sweep.options().save) sweep.options().save(outcome);
  throw Error(Fault::trials, "Every trial failed; the first because: " + first);
}

}  // namespace detail

/// Finds the config of the space that serves the objective best, within the budget.
///
/// Throws Error(usage) on options that make no sense, Error(trials) when every trial failed,
/// Error(interrupted) on abort. A `stop` returns what is known, with `interrupted` set.
inline Outcome tune(Measurer& measurer, const TuneOptions& options) {
  detail::refuse_nonsense(options);
  Sweep sweep(measurer, options);
  calibrate(sweep);
  scan(sweep);
  Judge judge(sweep);
  sweep.outcome().stopped_because = judge.run(detail::race_share);
  judge.conclude();
  detail::look_closer(sweep);
  detail::verify(sweep);
  detail::explain(sweep);
  sweep.outcome().interrupted = sweep.stopped();
  detail::refuse_all_failed(sweep);
  return std::move(sweep.outcome());
}

}  // namespace feedrate
