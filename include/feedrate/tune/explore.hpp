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

#include "feedrate/core/random.hpp"
#include "feedrate/tune/candidates.hpp"
#include "feedrate/tune/finalists.hpp"
#include "feedrate/tune/surrogate.hpp"
#include "feedrate/tune/sweep.hpp"

namespace feedrate {

/// The model-based search: single rounds, each where the expected improvement is largest.
class Exploration {
 public:
  explicit Exploration(Sweep& sweep) : Exploration(sweep, candidates_of(sweep)) {}

  /// Runs the reference, then all of few configs, in turn; of many what is predicted to be best,
  /// until no config of any tier promises more than `worth`. Ends where `share` of the budget is
  /// used.
  void run(double share) {
    try_reference();
    if (surrogate_.size() == 0) return;
    if (surrogate_.size() <= few) {
      try_all(share);
    } else {
      improve(share);
      polish(share);
    }
    tell();
  }

 private:
  Exploration(Sweep& sweep, const Candidates& candidates)
      : sweep_(sweep),
        trials_(candidates.trials),
        surrogate_(candidates.list, 15 * sweep.round_options().seconds),
        open_(surrogate_.size(), true),
        tried_(surrogate_.size(), false),
        thrift_(thrift_of(surrogate_)) {}

  /// Expected improvement, in logarithms, for which a round is run.
  static constexpr double worth = 0.0004;
  /// A neighbour of the leader is doubted no less than by this, whatever the surrogate says of it.
  static constexpr double doubt = 0.03;
  /// So few configs leave nothing to predictions: to measure them takes seconds.
  static constexpr std::size_t few = 16;
  /// So often those that may lead are measured, so that one slow round rules none out; and the part
  /// of the share at which exploring ends that these turns may use up: the rest is the race's.
  static constexpr int turns = 3;
  static constexpr double turns_share = 2.0 / 3;

  /// It is run even where nothing could be predicted of it: all gains are measured against it.
  void try_reference() {
    const std::size_t reference = sweep_.outcome().reference;
    const auto found = std::find(trials_.begin(), trials_.end(), reference);
    if (found != trials_.end()) return try_one(static_cast<std::size_t>(found - trials_.begin()));
    if (sweep_.is_open(reference)) sweep_.run(reference, "explore");
  }

  void try_one(std::size_t i) {
    Trial& trial = sweep_.trial(trials_[i]);
    if (trial.rounds.empty()) trial.predicted_samples_per_s = expected_rate(i);
    const auto score = sweep_.run(trials_[i], "explore");
    open_[i] = score.has_value();
    if (!score) return;
    tried_[i] = true;
    const bool joules = sweep_.options().objective == Objective::samples_per_joule;
    if (joules && !learnt_) offset_ = score->objective - score->rate;
    surrogate_.observe(i, score->objective - offset_, sweep_.elapsed_s());
    surrogate_.learn();
    learnt_ = true;
  }

  bool is_over(double share) { return is_over_ = sweep_.stopped() || sweep_.is_past(share); }

  /// Measures each config once, what is expected to be fastest first: it is sure to be reached.
  /// Then those that may lead again, in random order.
  void try_all(double share) {
    while (const auto next = best_untried()) {
      if (is_over(share)) return;
      try_one(*next);
    }
    Random random(sweep_.options().seed, 0, 1);
    std::vector<std::size_t> order(surrogate_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int turn = 1; turn < turns; ++turn) {
      shuffle(order, random);
      for (const std::size_t i : order) {
        if (sweep_.stopped() || sweep_.is_past(share * turns_share)) return;
        if (open_[i] && may_lead(i)) try_one(i);
      }
      repeated_ = true;
    }
  }

  /// Whether a candidate may be the best of a tier: single rounds are slow by half at most.
  bool may_lead(std::size_t i) const {
    const auto& tiers = sweep_.options().allowed;
    return std::any_of(tiers.begin(), tiers.end(), [&](Tier tier) {
      const auto leader = leader_of(tier);
      if (!leader || !sweep_.within(trials_[i], tier)) return false;
      return value(i) > value(*leader) - std::numbers::ln2;
    });
  }

  void improve(double share) {
    int idle = 0;
    for (double best = -HUGE_VAL;
         const auto next = idle < patience() ? most_promising() : std::nullopt;) {
      if (is_over(share)) return;
      try_one(*next);
      if (!open_[*next] && sweep_.lacked_memory()) continue;  // others may have room
      const double now = best_values();
      idle = now > best + finest_difference / 2 ? 0 : idle + 1;
      best = std::max(best, now);
    }
  }

  /// Measures the neighbours of each tier's leader that may well be better, until none is left.
  void polish(double share) {
    for (const Tier tier : sweep_.options().allowed) {
      while (const auto next = learnt_ ? best_neighbour(tier) : std::nullopt) {
        if (is_over(share)) return;
        try_one(*next);
      }
    }
  }

  std::optional<std::size_t> best_neighbour(Tier tier) const {
    const auto leader = leader_of(tier);
    if (!leader) return std::nullopt;
    return best_of([&](std::size_t i) { return value(i); },
                   [&](std::size_t i) {
                     return !tried_[i] && sweep_.within(trials_[i], tier) && may_beat(i, *leader);
                   });
  }

  bool may_beat(std::size_t i, std::size_t leader) const {
    if (!are_neighbours(surrogate_.config(i), surrogate_.config(leader))) return false;
    const double hope = value(i) + 3 * std::max(surrogate_.deviation(i), doubt);
    return hope > value(leader) + finest_difference;
  }

  /// What is expected of a candidate now, in samples/s.
  double expected_rate(std::size_t i) const {
    const auto prediction = predict(sweep_.outcome().demands, surrogate_.config(i));
    if (!learnt_) return prediction->samples_per_s;
    const double correction =
        surrogate_.mean(i) - log_score_of(sweep_, surrogate_.config(i), *prediction);
    return prediction->samples_per_s * std::exp(correction);
  }

  double value(std::size_t i) const { return surrogate_.mean(i) - thrift_[i]; }

  /// The candidate with the largest expected improvement in any tier; empty when none is worth it.
  std::optional<std::size_t> most_promising() const {
    if (!learnt_) return best_untried();
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

  std::optional<std::size_t> best_untried() const {
    return best_of([&](std::size_t i) { return expected_rate(i); },
                   [&](std::size_t i) { return !tried_[i]; });
  }

  /// The open candidate that is worth most of those admitted; empty where none is.
  template <class Worth, class Admits>
  std::optional<std::size_t> best_of(Worth&& worth_of, Admits&& admits) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < surrogate_.size(); ++i) {
      if (!open_[i] || !admits(i)) continue;
      if (!best || worth_of(i) > worth_of(*best)) best = i;
    }
    return best;
  }

  /// So many rounds in a row that change nothing end the search: on a plateau there is always one
  /// more config that might be better.
  int patience() const { return 15 + static_cast<int>(surrogate_.size() / 25); }

  /// Sum over the tiers of what their leaders reach.
  double best_values() const {
    double sum = 0;
    for (const Tier tier : sweep_.options().allowed) {
      if (const auto leader = leader_of(tier)) sum += value(*leader);
    }
    return sum;
  }

  /// The best of those that were measured.
  std::optional<std::size_t> leader_of(Tier tier) const {
    return best_of([&](std::size_t i) { return value(i); },
                   [&](std::size_t i) { return tried_[i] && sweep_.within(trials_[i], tier); });
  }

  /// Mean of what a candidate may be better than the leader by, beyond the finest difference.
  double expected_improvement(std::size_t i, std::size_t leader) const {
    if (i == leader) return 0;
    const double ahead = value(i) - value(leader) - finest_difference;
    return expected_excess(ahead, surrogate_.deviation(i));
  }

  /// Leaves what was learnt with the sweep: beliefs of the measured, predictions of the others.
  void tell() {
    if (!learnt_) return;
    if (surrogate_.size() > few || repeated_) sweep_.noise = surrogate_.noise();
    for (std::size_t i = 0; i < surrogate_.size(); ++i) {
      Trial& trial = sweep_.trial(trials_[i]);
      if (tried_[i]) {
        sweep_.believe(trials_[i], value(i) + offset_);
      } else if (open_[i]) {
        trial.predicted_samples_per_s = expected_rate(i);
        trial.status = TrialStatus::predicted;
        trial.reason = is_over_ ? "the budget ended first" : "measuring it promised too little";
      }
    }
  }

  Sweep& sweep_;
  std::vector<std::size_t> trials_;  ///< of each candidate
  Surrogate surrogate_;
  std::vector<bool> open_, tried_;
  std::vector<double> thrift_;
  double offset_ = 0;  ///< of the objective over the rate that is predicted: joules, at first sight
  bool learnt_ = false, repeated_ = false, is_over_ = false;
};

}  // namespace feedrate
