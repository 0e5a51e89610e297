// SPDX-License-Identifier: Apache-2.0
// Exploring: predict every config, then measure where the most may be gained, until that is little.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <optional>
#include <vector>

#include "feedrate/tune/surrogate.hpp"
#include "feedrate/tune/sweep.hpp"

namespace feedrate {

/// The model-based search: single rounds, each where the expected improvement is largest.
class Exploration {
 public:
  explicit Exploration(Sweep& sweep)
      : sweep_(sweep),
        surrogate_(candidates(), sweep.options().budget_s / 5),
        open_(surrogate_.size(), true),
        tried_(surrogate_.size(), false),
        thrift_(thrift()) {}

  /// Runs the reference and what is predicted to be best, then goes on until no config of any tier
  /// promises more than `worth`, or until `share` of the budget is used.
  void run(double share) {
    try_reference();
    if (surrogate_.size() == 0) return;
    while (const auto next = most_promising()) {
      if (sweep_.stopped() || sweep_.is_past(share)) break;
      try_one(*next);
    }
    tell();
  }

 private:
  /// Improvements below this are not looked for: nothing finer than 1 % is told apart anyway.
  static constexpr double finest = 0.01;
  /// Expected improvement, in logarithms, for which a round is run.
  static constexpr double worth = 0.0015;
  /// Between equals the cheapest is preferred, by at most this much.
  static constexpr double most_thrift = 0.004;

  std::vector<Candidate> candidates() {
    std::vector<Candidate> list;
    for (std::size_t t = 0; t < sweep_.outcome().trials.size(); ++t) {
      if (!sweep_.is_open(t)) continue;
      const Config& config = sweep_.trial(t).config;
      const auto prediction = predict(sweep_.outcome().demands, config);
      if (!prediction) continue;
      list.push_back({config, log_score(config, *prediction), prediction->bottleneck});
      trials_.push_back(t);
    }
    return list;
  }

  double log_score(const Config& config, const Prediction& prediction) const {
    const double rate = std::log(prediction.samples_per_s);
    switch (sweep_.options().objective) {
      case Objective::busy:
        return rate - std::log(prediction.device_samples_per_s);
      case Objective::mfu:
        return rate - sweep_.log_peak(config);
      default:
        return rate;
    }
  }

  /// Per candidate what is taken off for its cost.
  std::vector<double> thrift() const {
    std::vector<std::size_t> order(surrogate_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return cheaper(surrogate_.config(a), surrogate_.config(b));
    });
    std::vector<double> thrift(order.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      thrift[order[rank]] =
          most_thrift * static_cast<double>(rank) / static_cast<double>(order.size());
    }
    return thrift;
  }

  /// It is run even where nothing could be predicted of it: all gains are measured against it.
  void try_reference() {
    const std::size_t reference = sweep_.outcome().reference;
    const auto found = std::find(trials_.begin(), trials_.end(), reference);
    if (found != trials_.end()) return try_one(static_cast<std::size_t>(found - trials_.begin()));
    sweep_.run(reference, "explore");
  }

  void try_one(std::size_t i) {
    Trial& trial = sweep_.trial(trials_[i]);
    if (trial.rounds.empty()) trial.predicted_samples_per_s = expected_rate(i);
    const auto score = sweep_.run(trials_[i], "explore");
    if (!score) {
      open_[i] = false;
      return;
    }
    tried_[i] = true;
    surrogate_.observe(i, score->objective, sweep_.elapsed_s());
    surrogate_.learn();
    learnt_ = true;
  }

  /// What is expected of a candidate now, in samples/s.
  double expected_rate(std::size_t i) const {
    const auto prediction = predict(sweep_.outcome().demands, surrogate_.config(i));
    if (!learnt_) return prediction->samples_per_s;
    const double correction = surrogate_.mean(i) - log_score(surrogate_.config(i), *prediction);
    return prediction->samples_per_s * std::exp(correction);
  }

  double value(std::size_t i) const { return surrogate_.mean(i) - thrift_[i]; }

  /// The candidate with the largest expected improvement in any tier; empty when none is worth it.
  std::optional<std::size_t> most_promising() const {
    if (!learnt_) return best_prediction();
    std::optional<std::size_t> best;
    double most = worth;
    for (const Tier tier : sweep_.options().allowed) {
      const auto leader = leader_of(tier);
      for (std::size_t i = 0; i < surrogate_.size(); ++i) {
        if (!open_[i] || !sweep_.within(trials_[i], tier)) continue;
        const double gain = leader ? expected_improvement(i, *leader) : HUGE_VAL;
        if (gain <= most) continue;
        most = gain;
        best = i;
      }
    }
    return best;
  }

  std::optional<std::size_t> best_prediction() const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < surrogate_.size(); ++i) {
      if (open_[i] && (!best || expected_rate(i) > expected_rate(*best))) best = i;
    }
    return best;
  }

  /// The best of those that were measured.
  std::optional<std::size_t> leader_of(Tier tier) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < surrogate_.size(); ++i) {
      if (!open_[i] || !tried_[i] || !sweep_.within(trials_[i], tier)) continue;
      if (!best || value(i) > value(*best)) best = i;
    }
    return best;
  }

  /// Mean of what a candidate may be better than the leader by, beyond the finest difference.
  /// Source: D. R. Jones, M. Schonlau, W. J. Welch, "Efficient Global Optimization of Expensive
  /// Black-Box Functions", 1998, equation 15.
  double expected_improvement(std::size_t i, std::size_t leader) const {
    if (i == leader) return 0;
    const double deviation = surrogate_.deviation(i);
    const double u = (value(i) - value(leader) - finest) / deviation;
    const double density = std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
    const double below = std::erfc(-u / std::numbers::sqrt2) / 2;
    return deviation * (u * below + density);
  }

  /// Leaves what was learnt with the sweep: beliefs of the measured, predictions of the others.
  void tell() {
    if (!learnt_) return;
    sweep_.noise = surrogate_.noise();
    for (std::size_t i = 0; i < surrogate_.size(); ++i) {
      Trial& trial = sweep_.trial(trials_[i]);
      if (tried_[i]) {
        sweep_.believe(trials_[i], value(i));
      } else if (open_[i]) {
        trial.predicted_samples_per_s = expected_rate(i);
        trial.status = TrialStatus::predicted;
        trial.reason = "measuring it promised too little";
      }
    }
  }

  Sweep& sweep_;
  std::vector<std::size_t> trials_;  ///< of each candidate
  Surrogate surrogate_;
  std::vector<bool> open_, tried_;
  std::vector<double> thrift_;
  bool learnt_ = false;
};

}  // namespace feedrate
