// SPDX-License-Identifier: Apache-2.0
// The ceilings of single trials: the parts measured alone, in turn with the whole pipeline.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/tune/search/calibrate.hpp"
#include "feedrate/tune/search/candidates.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Sums over the rounds of one part.
struct PartSum {
  double samples = 0, seconds = 0, cpu_s = 0;

  void add(const Round& round) noexcept {
    samples += static_cast<double>(round.samples);
    seconds += round.duration_s;
    cpu_s += round.cpu_s;
  }
  double rate() const noexcept { return seconds > 0 ? samples / seconds : 0; }
  double cpu_per_sample() const noexcept { return samples > 0 ? cpu_s / samples : 0; }
};

/// Runs the parts of a config in turn, so often, and once even where the share is used up; forth
/// and back, so that a steady drift cancels. All zero where one failed.
inline std::array<PartSum, 4> measure_in_turn(Sweep& sweep, const Config& config, int turns,
                                              double share) {
  std::array<PartSum, 4> sums;
  std::vector<Part> parts = {Part::coupled, Part::loader, Part::device};
  if (sweep.measurer().copies()) parts.push_back(Part::copy);
  for (int turn = 0; turn < turns; ++turn) {
    if (turn > 0 && (sweep.stopped() || sweep.is_past(share))) break;
    for (const Part part : parts) {
      const auto round = sweep.probe({part, config, sweep.round_options_of(config)}, "ceilings");
      if (!round) return {};
      sums[static_cast<std::size_t>(part)].add(*round);
    }
    std::reverse(parts.begin(), parts.end());
  }
  return sums;
}

/// The ceilings of a trial by what calibration has found, where a round of it takes too long.
inline std::optional<Ceilings> known_ceilings(const Sweep& sweep, std::size_t index) {
  const Trial& trial = sweep.trial(index);
  const Demands& demands = sweep.outcome().demands;
  const StepDemand* step = demands.step(trial.config);
  if (!step || !demands.loader || !round_takes_too_long(sweep, index)) return std::nullopt;
  Ceilings ceilings{.loader = demands.loader->rate(trial.config),
                    .device = step->rate(trial.config.batch),
                    .coupled = trial.samples_per_s().estimate};
  if (const auto copy = demands.copy(trial.config)) ceilings.copy = *copy;
  const double cpu_s = demands.loader->cpu_seconds(trial.config) + step->cpu_s;
  if (trial.config.workers > 0 && cpu_s > 0) ceilings.cores = demands.cores / cpu_s;
  return ceilings;
}

/// Puts the ceilings of a trial into it; none where a part of it failed.
inline void measure_ceilings(Sweep& sweep, std::size_t index, double share) {
  constexpr int turns = 2;
  if (const auto known = known_ceilings(sweep, index)) {
    sweep.trial(index).ceilings = *known;
    return;
  }
  const Config config = sweep.trial(index).config;
  const auto sums = measure_in_turn(sweep, config, turns, share);
  const auto& [coupled, loader, copy, device] = sums;
  if (coupled.seconds == 0) {
    sweep.trial(index).reason = {Why::no_ceilings, sweep.failure()};
    return;
  }
  Ceilings ceilings{.loader = loader.rate(), .device = device.rate(), .coupled = coupled.rate()};
  if (copy.seconds > 0) ceilings.copy = copy.rate();
  const double cpu_s = loader.cpu_per_sample() + device.cpu_per_sample();
  if (config.workers > 0 && cpu_s > 0) ceilings.cores = sweep.options().cores / cpu_s;
  sweep.trial(index).ceilings = ceilings;
  DeviceCeiling& best = sweep.outcome().best_device;
  if (device.rate() > best.samples_per_s) best = {config, device.rate()};
}

/// Asks for what is reported beyond rates: that it can't be told is no reason to lose what is
/// known. `tell` gets why. Throws on abort alone.
template <class Ask, class Tell>
void ask_beyond_rates(const Sweep& sweep, Ask&& ask, Tell&& tell) {
  try {
    ask();
  } catch (const std::exception& error) {
    if (sweep.aborted()) throw;
    tell(error.what());
  }
}

/// The GPU as it is right behind a round.
inline void look_at_gpu(Sweep& sweep) {
  Outcome& outcome = sweep.outcome();
  ask_beyond_rates(
      sweep, [&] { outcome.gpu = sweep.measurer().gpu_state(); },
      [&](const std::string& why) {
        outcome.not_applicable.push_back({"gpu", "state", why});
      });
}

/// What the batches and the step of a measured trial need.
inline void ask_memory(Sweep& sweep, Trial& trial) {
  ask_beyond_rates(
      sweep, [&] { trial.memory_bytes = sweep.measurer().memory_bytes(trial.config); },
      [&](const std::string& why) {
        if (trial.reason.empty()) trial.reason = {Why::no_memory, why};
      });
}

/// The fastest step of all that were probed, measured once more: the luck by which it won is left
/// out.
inline void measure_best_device(Sweep& sweep, double share) {
  if (sweep.outcome().demands.steps.empty()) Calibration(sweep, share).measure_steps();
  const Probe* best = nullptr;
  for (const Probe& probe : sweep.outcome().probes) {
    if (probe.part != Part::device) continue;
    if (!best || probe.round.samples_per_s() > best->round.samples_per_s()) best = &probe;
  }
  if (!best) return;
  const Config config = best->config;
  const auto round = sweep.probe({Part::device, config, sweep.round_options()}, "ceilings");
  if (!round) return;
  sweep.outcome().best_device = {config, round->samples_per_s()};
  look_at_gpu(sweep);
}

/// A step that a trial was fed for is no slower than the trial: no share of it is above 1.
inline void raise_best_device(Outcome& outcome, const Trial& trial) {
  if (outcome.best_device.samples_per_s <= 0 || trial.rounds.empty()) return;
  const double rate = trial.samples_per_s().estimate;
  if (rate > outcome.best_device.samples_per_s) outcome.best_device = {trial.config, rate};
}

/// What is reported of a trial beyond its rate.
inline void look_at(Sweep& sweep, std::size_t index, double share) {
  measure_ceilings(sweep, index, share);
  Trial& trial = sweep.trial(index);
  if (sweep.is_past(share)) return;
  ask_beyond_rates(
      sweep, [&] { trial.epoch_boundary_s = sweep.measurer().epoch_boundary_s(trial.config); },
      [&](const std::string& why) {
        if (trial.reason.empty()) trial.reason = {Why::no_epoch_boundary, why};
      });
}

}  // namespace detail

/// Looks closer at the reference and at what is recommended, until `share` of the budget. Where
/// steps are so slow that three times the budget are used already, no part is measured any more.
inline void look_closer(Sweep& sweep, double share) {
  constexpr double latest_share = 3;
  Outcome& outcome = sweep.outcome();
  std::vector<std::size_t> trials = {outcome.reference};
  if (!outcome.tiers.empty() && outcome.choice().trial != outcome.reference) {
    trials.push_back(outcome.choice().trial);
  }
  const auto may_measure = [&] {
    return sweep.measurer().can_run(Part::device) && !sweep.stopped() &&
           !sweep.is_past(latest_share);
  };
  if (may_measure()) detail::measure_best_device(sweep, share);
  for (const std::size_t trial : trials) {
    if (!sweep.trial(trial).rounds.empty() && may_measure()) detail::look_at(sweep, trial, share);
  }
  for (const std::size_t trial : trials) detail::raise_best_device(outcome, sweep.trial(trial));
  for (Trial& trial : outcome.trials) {
    if (!trial.rounds.empty()) detail::ask_memory(sweep, trial);
  }
}

}  // namespace feedrate::inline v0
