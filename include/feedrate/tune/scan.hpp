// SPDX-License-Identifier: Apache-2.0
// The scan: one round of every config, the most promising first, the hopeless left out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/tune/sweep.hpp"

namespace feedrate {
namespace detail {

/// The trials in the order of their bounds, best first; unknown bounds before all others.
inline std::vector<std::size_t> by_promise(const Sweep& sweep) {
  const auto& trials = sweep.outcome().trials;
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto promise = [&](std::size_t t) {
    const double bound = trials[t].predicted_samples_per_s;
    return bound > 0 ? bound : HUGE_VAL;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return promise(a) > promise(b); });
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t t) { return t == sweep.outcome().reference; });
  return order;
}

/// A config is hopeless when its bound, with 10 % for the noise of its parts, lies below what
/// another config of its tier has reached. Only rates have bounds, and only measured parts count.
inline bool is_hopeless(Sweep& sweep, const Trial& trial) {
  const auto tier = sweep.tier_of(trial.config);
  const auto leader = tier ? sweep.best(*tier) : std::nullopt;
  if (!leader || trial.predicted_samples_per_s == 0) return false;
  if (sweep.options().objective == Objective::busy) return false;
  if (sweep.bounds().device(trial.config)->predicted) return false;
  const double reached = sweep.outcome().trials[*leader].samples_per_s().estimate;
  return 1.1 * trial.predicted_samples_per_s < reached;
}

/// Whether a round of the trial would take more than its share of the budget.
inline bool is_too_slow(const Sweep& sweep, const Trial& trial) {
  if (trial.predicted_samples_per_s == 0) return false;
  return 4 * trial.config.batch / trial.predicted_samples_per_s > sweep.longest_round_s();
}

inline void scan_one(Sweep& sweep, std::size_t index) {
  Trial& trial = sweep.trial(index);
  if (!sweep.tier_of(trial.config)) {
    trial.reason = "changes an axis of a tier that is not allowed";
  } else if (is_hopeless(sweep, trial)) {
    trial.status = TrialStatus::hopeless;
    trial.reason = "its ceilings lie below what another config reaches";
  } else if (index != sweep.outcome().reference && is_too_slow(sweep, trial)) {
    trial.status = TrialStatus::predicted;
    trial.reason = "one round would take more than a tenth of the budget";
  } else {
    sweep.run(index, "scan");
  }
}

/// While more workers gain, goes on past the largest number: waiting data wants more than cores.
inline void grow_workers(Sweep& sweep, Tier tier, double share) {
  constexpr int most = 256;
  constexpr double gain = 0.03;
  while (!sweep.stopped() && !sweep.is_past(share)) {
    const auto leader = sweep.best(tier);
    if (!leader) return;
    Config more = sweep.trial(*leader).config;
    const int largest = *std::max_element(sweep.options().space.workers.begin(),
                                          sweep.options().space.workers.end());
    if (more.workers < largest || 2 * more.workers > most) return;
    more.workers *= 2;
    const std::size_t added = sweep.add(more);
    if (!sweep.trial(added).rounds.empty()) return;
    const auto score = sweep.run(added, "scan");
    if (!score || score->objective < *sweep.score(*leader) + gain) return;
  }
}

}  // namespace detail

/// Scans the space until 45 % of the budget is used; what it did not get to stays `not_reached`.
inline void scan(Sweep& sweep) {
  constexpr double share = 0.45;
  for (const std::size_t index : detail::by_promise(sweep)) {
    if (sweep.stopped()) return;
    if (sweep.is_past(share) && index != sweep.outcome().reference) continue;
    detail::scan_one(sweep, index);
  }
  if (!sweep.options().space.workers_may_grow) return;
  for (const Tier tier : sweep.options().allowed) detail::grow_workers(sweep, tier, share);
}

}  // namespace feedrate
