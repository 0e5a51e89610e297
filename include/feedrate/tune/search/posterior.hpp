// SPDX-License-Identifier: Apache-2.0
// The posterior mean of each candidate, and the leader of each tier.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "feedrate/tune/model/surrogate.hpp"
#include "feedrate/tune/race/finalists.hpp"
#include "feedrate/tune/search/candidates.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// The candidates of a sweep, numbered from 0: predictions, corrected by what was measured.
class Posterior {
 public:
  /// `candidates` must be those of `sweep`, which must outlive this.
  Posterior(Sweep& sweep, Candidates candidates)
      : sweep_(sweep),
        trials_(std::move(candidates.trials)),
        surrogate_(std::move(candidates.list), 15 * sweep.round_options().seconds),
        open_(trials_.size(), true),
        tried_(trials_.size(), false),
        cost_penalty_(cost_penalty_of(surrogate_, sweep.reference())) {}

  std::size_t size() const noexcept { return trials_.size(); }
  std::size_t trial(std::size_t i) const { return trials_[i]; }
  std::optional<std::size_t> candidate_of(std::size_t trial) const {
    const auto found = std::find(trials_.begin(), trials_.end(), trial);
    if (found == trials_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - trials_.begin());
  }
  const Config& config(std::size_t i) const { return surrogate_.config(i); }
  /// May be run: it has not failed, and has room in memory.
  bool is_open(std::size_t i) const { return open_[i] && sweep_.is_open(trials_[i]); }
  bool was_tried(std::size_t i) const { return tried_[i]; }
  bool within(std::size_t i, Tier tier) const { return sweep_.within(trials_[i], tier); }
  bool has_learnt() const noexcept { return learnt_; }
  double noise() const { return surrogate_.noise(); }  ///< of one round, in logarithms

  void close(std::size_t i) { open_[i] = false; }

  /// Learns from a round.
  void observe(std::size_t i, const Score& score) {
    const bool is_predicted = objective_named(sweep_.options().objective).is_predicted;
    if (!is_predicted && !learnt_) offset_ = score.objective - score.rate;
    surrogate_.observe(i, score.objective - offset_, sweep_.elapsed_s());
    surrogate_.learn();
    learnt_ = tried_[i] = true;
  }

  /// The logarithm of what a candidate is expected to score, less what is taken off for its cost.
  double value(std::size_t i) const { return surrogate_.mean(i) - cost_penalty_[i]; }
  double deviation(std::size_t i) const { return surrogate_.deviation(i); }
  double score(std::size_t i) const { return value(i) + offset_; }  ///< by the objective

  /// What is expected of a candidate now, in samples/s.
  double expected_rate(std::size_t i) const {
    const auto prediction = predict(sweep_.outcome().demands, config(i));
    if (!learnt_) return prediction->samples_per_s;
    const double correction = surrogate_.mean(i) - log_score_of(sweep_, config(i), *prediction);
    return prediction->samples_per_s * std::exp(correction);
  }

  /// The open candidate with the largest value of those admitted; empty where none is.
  template <class Value, class Admits>
  std::optional<std::size_t> best_of(Value&& value_of, Admits&& admits) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!is_open(i) || !admits(i)) continue;
      if (!best || value_of(i) > value_of(*best)) best = i;
    }
    return best;
  }

  /// The best of a tier among those that were tried; empty where none was.
  std::optional<std::size_t> leader_of(Tier tier) const {
    return best_of([&](std::size_t i) { return value(i); },
                   [&](std::size_t i) { return tried_[i] && within(i, tier); });
  }

  /// Whether the leader of a tier is so far behind that another tier is recommended.
  bool is_behind(std::size_t leader) const {
    const auto widest = leader_of(widest_recommended(sweep_.options()));
    return widest && value(leader) < value(*widest) - far_behind;
  }

  /// Mean of what a candidate may be better than the leader by, beyond the finest difference.
  double expected_improvement(std::size_t i, std::size_t leader) const {
    if (i == leader) return 0;
    return expected_excess(value(i) - value(leader) - finest_difference, deviation(i));
  }

 private:
  Sweep& sweep_;
  std::vector<std::size_t> trials_;  ///< of each candidate
  Surrogate surrogate_;
  std::vector<bool> open_, tried_;
  std::vector<double> cost_penalty_;
  double offset_ = 0;  ///< of the objective over the rate that is predicted: joules, at first sight
  bool learnt_ = false;
};

}  // namespace feedrate::inline v0
