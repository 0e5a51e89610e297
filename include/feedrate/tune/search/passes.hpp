// SPDX-License-Identifier: Apache-2.0
// Passes over the configs of a sweep, for the strategies that only measure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0::detail {

/// The open trials in random order.
inline std::vector<std::size_t> shuffled_trials(const Sweep& sweep, Random& random) {
  std::vector<std::size_t> trials;
  for (std::size_t t = 0; t < sweep.outcome().trials.size(); ++t) {
    if (sweep.is_open(t)) trials.push_back(t);
  }
  shuffle(trials, random);
  return trials;
}

/// One round of each; false when there is none, or the share is used up.
inline bool run_pass(Sweep& sweep, const std::vector<std::size_t>& trials, double share) {
  if (trials.empty()) return false;
  for (const std::size_t trial : trials) {
    if (sweep.stopped() || sweep.is_past(share)) return false;
    if (sweep.is_open(trial)) sweep.run(trial, "explore");
  }
  return true;
}

/// Rounds that fit into the share, by the rounds that were allowed or by the time that one takes.
inline double rounds_left(Sweep& sweep, double share) {
  const TuneOptions& options = sweep.options();
  const double used = std::max(sweep.outcome().rounds, 1);
  const double by_time =
      (share * options.budget_s - sweep.elapsed_s()) / std::max(sweep.elapsed_s() / used, 1e-9);
  if (options.max_rounds <= 0) return by_time;
  return std::min(by_time, share * options.max_rounds - used);
}

/// Where some have more rounds than others, the luck of a single one must not win: a standard error
/// is taken off each mean.
inline void take_off_standard_errors(Sweep& sweep) {
  constexpr double usual_noise = 0.03;
  for (std::size_t t = 0; t < sweep.outcome().trials.size(); ++t) {
    const auto score = sweep.score(t);
    if (!score) continue;
    const auto rounds = static_cast<double>(sweep.trial(t).rounds.size());
    sweep.set_posterior_mean(t, *score - usual_noise / std::sqrt(rounds));
  }
}

}  // namespace feedrate::inline v0::detail
