// SPDX-License-Identifier: Apache-2.0
// The other searches, with the rounds of the model's search, for comparison.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate {
namespace detail {

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
inline void believe_cautiously(Sweep& sweep) {
  constexpr double usual_noise = 0.03;
  for (std::size_t t = 0; t < sweep.outcome().trials.size(); ++t) {
    const auto score = sweep.score(t);
    if (!score) continue;
    const auto rounds = static_cast<double>(sweep.trial(t).rounds.size());
    sweep.believe(t, *score - usual_noise / std::sqrt(rounds));
  }
}

}  // namespace detail

/// Every config, pass after pass, each pass in another order.
inline void search_grid(Sweep& sweep, double share) {
  Random random(sweep.options().seed, 1, 0);
  while (detail::run_pass(sweep, detail::shuffled_trials(sweep, random), share)) {
  }
}

/// One round each of as many configs as there is time for. Source: J. Bergstra, Y. Bengio, "Random
/// Search for Hyper-Parameter Optimization", 2012.
inline void search_random(Sweep& sweep, double share) {
  Random random(sweep.options().seed, 1, 0);
  detail::run_pass(sweep, detail::shuffled_trials(sweep, random), share);
}

/// Successive halving: the better third goes on with three times the rounds. The first rung has as
/// many configs as make every rung cost the same. Source: K. Jamieson, A. Talwalkar,
/// "Non-stochastic Best Arm Identification and Hyperparameter Optimization", 2016, with eta = 3 as
/// in ASHA.
inline void search_halving(Sweep& sweep, double share) {
  constexpr std::size_t eta = 3;
  Random random(sweep.options().seed, 1, 0);
  std::vector<std::size_t> rung = detail::shuffled_trials(sweep, random);
  detail::run_pass(sweep, {sweep.outcome().reference}, share);
  const auto rungs_of = [](double n) {
    return std::floor(std::log(std::max(n, 1.0)) / std::log(3.0)) + 1;
  };
  const double rounds = detail::rounds_left(sweep, share);
  auto first = static_cast<double>(rung.size());
  while (first > 1 && first * rungs_of(first) > rounds) --first;
  rung.resize(std::max<std::size_t>(1, static_cast<std::size_t>(first)));
  for (std::size_t repeats = 1;; repeats *= eta) {
    for (std::size_t r = 0; r < repeats; ++r) {
      if (!detail::run_pass(sweep, rung, share)) return detail::believe_cautiously(sweep);
    }
    if (rung.size() < eta) return detail::believe_cautiously(sweep);
    std::erase_if(rung, [&](std::size_t trial) { return !sweep.score(trial); });
    std::sort(rung.begin(), rung.end(),
              [&](std::size_t a, std::size_t b) { return *sweep.score(a) > *sweep.score(b); });
    rung.resize(std::max<std::size_t>(1, rung.size() / eta));
  }
}

}  // namespace feedrate
