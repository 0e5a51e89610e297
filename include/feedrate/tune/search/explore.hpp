// SPDX-License-Identifier: Apache-2.0
// Exploration: predicts every config, then measures the one with the largest expected improvement,
// until that is negligible.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/tune/race/proof_time.hpp"
#include "feedrate/tune/search/candidates.hpp"
#include "feedrate/tune/search/posterior.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// The model-based search: single rounds, each where the expected improvement for its cost is
/// largest. Source: J. Snoek, H. Larochelle, R. P. Adams, "Practical Bayesian Optimization of
/// Machine Learning Algorithms", 2012.
class Exploration {
 public:
  explicit Exploration(Sweep& sweep) : sweep_(sweep), posterior_(sweep, candidates_of(sweep)) {
    for (std::size_t i = 0; i < posterior_.size(); ++i)
      round_s_.push_back(detail::round_cost_s(sweep, posterior_.config(i)));
  }

  /// Runs the reference, then all of few configs; of many what is predicted to be best, until none
  /// promises more than `least_improvement`. Ends where `share` of the budget is used.
  void run(double share) {
    try_reference(false);
    if (posterior_.size() == 0) return;
    if (posterior_.size() <= exhaustive_size) {
      try_all(share);
    } else {
      improve(share);
      refine_locally(share);
    }
    if (!posterior_.has_learnt()) try_reference(true);
    tell();
  }

 private:
  static constexpr double least_improvement = 0.0004;  ///< that is worth a round, in logarithms
  static constexpr double weight_aside = 0.25;         ///< of a tier far behind, or offered at most
  /// A neighbour of the leader is doubted no less than by this, whatever the surrogate says of it.
  static constexpr double least_deviation = 0.03;
  static constexpr std::size_t exhaustive_size = 16;  ///< so few are all measured: it takes seconds
  static constexpr int turns = 3;                 ///< so often those that may lead are measured,
  static constexpr double turns_share = 2.0 / 3;  ///< within so much: the rest is the race's

  /// It is run even where nothing could be predicted of it. One that takes long waits for its
  /// proof, unless it is the last that is left to try.
  void try_reference(bool is_last) {
    const std::size_t reference = sweep_.outcome().reference;
    const bool waits = !is_last && posterior_.size() > 1;
    if (waits && detail::round_takes_too_long(sweep_, reference)) return;
    if (!sweep_.is_open(reference)) return;
    if (const auto candidate = posterior_.candidate_of(reference)) return try_one(*candidate);
    sweep_.run(reference, "explore");
  }

  void try_one(std::size_t i) {
    Trial& trial = sweep_.trial(posterior_.trial(i));
    if (trial.rounds.empty()) trial.predicted_samples_per_s = posterior_.expected_rate(i);
    if (const auto score = sweep_.run(posterior_.trial(i), "explore")) {
      posterior_.observe(i, *score);
    } else {
      posterior_.close(i);
    }
  }

  bool is_over(double share) {
    leave_time_for_proof();
    return is_over_ = sweep_.stopped() || sweep_.is_past(share);
  }

  void leave_time_for_proof() {
    if (posterior_.size() <= exhaustive_size) return;  // their race will know the noise
    const auto scored = [&](auto i) { return std::pair(posterior_.trial(i), posterior_.score(i)); };
    const auto reference = posterior_.candidate_of(sweep_.outcome().reference);
    if (!reference || !posterior_.was_tried(*reference)) return;
    const double scatter = std::numbers::sqrt2 * posterior_.noise();
    auto at_best = scored(*reference);  // a single round may have shown it slower than it is
    at_best.second += posterior_.deviation(*reference);
    detail::leave_time_for_proof(sweep_, at_best, scatter, [&](Tier tier) {
      const auto leader = posterior_.leader_of(tier);
      return leader ? std::optional(scored(*leader)) : std::nullopt;
    });
  }

  /// Measures each config once, what is expected to be fastest first: it is sure to be reached.
  /// Then those that may lead again, in random order.
  void try_all(double share) {
    while (const auto next = best_untried()) {
      if (is_over(share)) return;
      try_one(*next);
    }
    Random random(sweep_.options().seed, 0, 1);
    std::vector<std::size_t> order(posterior_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int turn = 1; turn < turns; ++turn) {
      shuffle(order, random);
      for (const std::size_t i : order) {
        if (sweep_.stopped() || sweep_.is_past(share * turns_share)) return;
        if (posterior_.is_open(i) && may_lead(i)) try_one(i);
      }
      repeated_ = true;
    }
  }

  /// Whether it may be the best of a tier: single rounds are slow by half at most.
  bool may_lead(std::size_t i) const {
    const auto& tiers = sweep_.options().allowed;
    return std::any_of(tiers.begin(), tiers.end(), [&](Tier tier) {
      const auto leader = posterior_.leader_of(tier);
      if (!leader || !posterior_.within(i, tier)) return false;
      return posterior_.value(i) > posterior_.value(*leader) - std::numbers::ln2;
    });
  }

  void improve(double share) {
    int idle = 0;
    for (double best = -HUGE_VAL;
         const auto next = idle < patience() ? most_promising() : std::nullopt;) {
      if (is_over(share)) return;
      try_one(*next);
      if (!posterior_.is_open(*next) && sweep_.lacked_memory()) continue;  // others may have room
      const double now = best_values();
      idle = now > best + finest_difference / 2 ? 0 : idle + 1;
      best = std::max(best, now);
    }
  }

  /// So many rounds in a row that change nothing end the search: plateaus have no end.
  int patience() const { return 15 + static_cast<int>(posterior_.size() / 25); }

  /// Sum over the tiers of what their leaders reach.
  double best_values() const {
    double sum = 0;
    for (const Tier tier : sweep_.options().allowed) {
      if (const auto leader = posterior_.leader_of(tier)) sum += posterior_.value(*leader);
    }
    return sum;
  }

  /// What is expected to gain most for its cost, in any tier. A tier of which nothing was measured
  /// yet begins with its best. The cost counts by its square root: by all of it, what takes many
  /// workers would wait for its turn however much time is left.
  std::optional<std::size_t> most_promising() const {
    if (!posterior_.has_learnt()) return best_untried();
    std::optional<std::size_t> best;
    double best_gain_for_cost = 0;
    for (const Tier tier : sweep_.options().allowed) {
      const auto leader = posterior_.leader_of(tier);
      if (!leader) {
        if (const auto first = best_within(tier)) return first;
        continue;
      }
      const bool aside = tier > sweep_.options().headline || posterior_.is_behind(*leader);
      const double weight = aside ? weight_aside : 1;
      for (std::size_t i = 0; i < posterior_.size(); ++i) {
        if (!posterior_.is_open(i) || !posterior_.within(i, tier)) continue;
        const double gain = weight * posterior_.expected_improvement(i, *leader);
        if (gain <= least_improvement) continue;
        const double gain_for_cost = gain / std::sqrt(cost_s(i));
        if (gain_for_cost <= best_gain_for_cost) continue;
        best_gain_for_cost = gain_for_cost;
        best = i;
      }
    }
    return best;
  }

  /// Seconds that a round of a candidate takes, with the start of what it needs.
  double cost_s(std::size_t i) const {
    return round_s_[i] + sweep_.costs().of(posterior_.config(i));
  }

  /// Of what may be recommended, as long as there is any.
  std::optional<std::size_t> best_untried() const {
    const TuneOptions& options = sweep_.options();
    for (const Tier tier : {widest_recommended(options), options.allowed.back()}) {
      const auto best = posterior_.best_of(
          [&](std::size_t i) { return posterior_.expected_rate(i); },
          [&](std::size_t i) { return !posterior_.was_tried(i) && posterior_.within(i, tier); });
      if (best) return best;
    }
    return std::nullopt;
  }
  std::optional<std::size_t> best_within(Tier tier) const {
    return posterior_.best_of([&](std::size_t i) { return posterior_.value(i); },
                              [&](std::size_t i) { return posterior_.within(i, tier); });
  }

  /// Measures the neighbours of each tier's leader that may well be better, until none is left.
  void refine_locally(double share) {
    for (const Tier tier : sweep_.options().allowed) {
      while (const auto next = posterior_.has_learnt() ? best_neighbour(tier) : std::nullopt) {
        if (is_over(share)) return;
        try_one(*next);
      }
    }
  }

  std::optional<std::size_t> best_neighbour(Tier tier) const {
    const auto leader = posterior_.leader_of(tier);
    if (!leader || posterior_.is_behind(*leader)) return std::nullopt;
    return posterior_.best_of([&](std::size_t i) { return posterior_.value(i); },
                              [&](std::size_t i) {
                                return !posterior_.was_tried(i) && posterior_.within(i, tier) &&
                                       may_beat(i, *leader);
                              });
  }

  bool may_beat(std::size_t i, std::size_t leader) const {
    if (!are_neighbours(posterior_.config(i), posterior_.config(leader))) return false;
    const double hope =
        posterior_.value(i) + 3 * std::max(posterior_.deviation(i), least_deviation);
    return hope > posterior_.value(leader) + finest_difference;
  }

  /// Stores posterior means of measured configs, and predictions of others, in the sweep.
  void tell() {
    if (!posterior_.has_learnt()) return;
    if (posterior_.size() > exhaustive_size || repeated_) sweep_.noise = posterior_.noise();
    for (std::size_t i = 0; i < posterior_.size(); ++i) {
      Trial& trial = sweep_.trial(posterior_.trial(i));
      if (posterior_.was_tried(i)) {
        sweep_.set_posterior_mean(posterior_.trial(i), posterior_.score(i));
      } else if (posterior_.is_open(i)) {
        trial.predicted_samples_per_s = posterior_.expected_rate(i);
        trial.status = TrialStatus::predicted;
        trial.reason = {is_over_ ? Why::budget_ended : Why::too_little_to_gain};
      }
    }
  }

  Sweep& sweep_;
  Posterior posterior_;
  std::vector<double> round_s_;  ///< of each candidate, that a round lasts
  bool repeated_ = false, is_over_ = false;
};

}  // namespace feedrate::inline v0
