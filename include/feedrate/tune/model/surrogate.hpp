// SPDX-License-Identifier: Apache-2.0
// The surrogate: a Gaussian process over the axes, fitted to the error of the model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "feedrate/core/space.hpp"
#include "feedrate/tune/model/cholesky.hpp"
#include "feedrate/tune/model/similarity_kernel.hpp"

namespace feedrate::inline v0 {

/// Kriging of log(measured / predicted): configs that are alike err alike, so that a few measured
/// ones correct the predictions of all. Source: C. E. Rasmussen, C. K. I. Williams, "Gaussian
/// Processes for Machine Learning", 2006, algorithm 2.1; the mean function is the prediction.
class Surrogate {
 public:
  /// Measurements within `drift_s` share the machine's momentary speed.
  Surrogate(std::vector<Candidate> candidates, double drift_s)
      : candidates_(std::move(candidates)),
        similarity_(candidates_),
        drift_s_(drift_s),
        beside_(candidates_.size()),
        posterior_(candidates_.size()) {}

  std::size_t size() const noexcept { return candidates_.size(); }
  const Config& config(std::size_t i) const { return candidates_[i].config; }

  /// A measured score, in logarithms, and when it was measured.
  void observe(std::size_t candidate, double log_score, double time_s) {
    seen_.push_back({candidate, log_score - candidates_[candidate].log_predicted, time_s});
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      beside_[i].push_back(covariance(i, candidate));
    }
  }

  /// Learns from all that was observed: at least one score. The scales change little from one to
  /// the next, and cost the most: they are chosen again after each further eighth.
  void learn() {
    if (seen_.size() >= next_choice_) {
      if (choose_scales()) forget();
      next_choice_ = seen_.size() + 1 + seen_.size() / 8;
    }
    while (factor_.size() < seen_.size()) learn_from(factor_.size());
  }

  /// Mean and standard deviation of a candidate's true log-score, given what was learnt.
  double mean(std::size_t i) const { return candidates_[i].log_predicted + posterior_[i].residual; }
  double deviation(std::size_t i) const {
    return std::sqrt(std::max(1e-12, covariance(i, i).at(scale_) - posterior_[i].known));
  }
  /// Standard deviation of the log-score of one round.
  double noise() const noexcept { return noise_; }

 private:
  struct Seen {
    std::size_t candidate;
    double residual;
    double time_s;
  };

  /// What was learnt of a candidate, beside its prediction.
  struct CandidatePosterior {
    std::vector<double> shared = {};  ///< L^-1 of its covariances with what was seen
    double residual = 0;              ///< its mean
    double known = 0;                 ///< what its variance is less
  };

  /// Standard deviations of the model's error, in logarithms: one for all configs, one for what
  /// busy cores cost each other, one per axis, one per place in the space, one per
  /// config; and the machine's drift.
  static constexpr double common = 0.1, crowd = 0.3;
  static constexpr double axis = 0.07, place = 0.07, single = 0.006, drift = 0.015;
  static constexpr double usual_noise = 0.03;

  static double square(double x) noexcept { return x * x; }

  /// A covariance in two parts: what is as it is, and what grows with the square of the scale.
  struct Covariance {
    double fixed;
    double scaled;

    double at(double scale) const noexcept { return fixed + square(scale) * scaled; }
  };

  Covariance covariance(std::size_t a, std::size_t b) const {
    double sum = 0, product = 1;
    similarity_.for_each_property(a, b, [&](double similarity) {
      sum += similarity;
      product *= similarity;
    });
    const double own = a == b ? square(single) : 0;
    const double crowding = square(crowd) * (busy(a) * busy(b) + beyond_half(a) * beyond_half(b));
    return {square(common) + crowding, square(axis) * sum + square(place) * product + own};
  }

  /// Share of the cores that compute; without workers loader and step are never beside each other.
  double busy(std::size_t i) const {
    return candidates_[i].config.workers == 0 ? 0 : std::min(candidates_[i].busy, 1.5);
  }

  /// Beyond half of the cores two threads may share what computes (SMT): there the loss begins
  /// again.
  double beyond_half(std::size_t i) const { return std::max(0.0, 2 * busy(i) - 1); }

  /// What was seen as number `s`, beside all before it and itself.
  std::vector<double> covariances_of_seen(std::size_t s) const {
    std::vector<double> row;
    for (std::size_t b = 0; b <= s; ++b) {
      const double apart = std::abs(seen_[s].time_s - seen_[b].time_s) / drift_s_;
      row.push_back(beside_[seen_[s].candidate][b].at(scale_) + square(drift) * std::exp(-apart) +
                    (s == b ? square(noise_) : 0));
    }
    return row;
  }

  void forget() {
    factor_ = {};
    residuals_.clear();
    std::fill(posterior_.begin(), posterior_.end(), CandidatePosterior{});
  }

  /// One more row of the factor L adds one element to L^-1 of the residuals, and of what each
  /// candidate shares with what was seen: with it mean and variance are a sum longer by one.
  void learn_from(std::size_t s) {
    factor_.append(covariances_of_seen(s));
    factor_.solve_next(residuals_, seen_[s].residual);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      CandidatePosterior& posterior = posterior_[i];
      factor_.solve_next(posterior.shared, beside_[i][s].at(scale_));
      posterior.residual += posterior.shared.back() * residuals_.back();
      posterior.known += square(posterior.shared.back());
    }
  }

  /// Takes the scale of the model's errors and the noise under which the residuals are likeliest,
  /// each with a broad prior around what is usual. Whether they are others than before.
  bool choose_scales() {
    const std::pair before{scale_, noise_};
    double best = -HUGE_VAL;
    std::pair chosen{1.0, usual_noise};
    for (const double scale : {0.7, 1.0, 1.4, 2.0, 2.8, 5.6}) {
      for (const double noise : {0.01, 0.02, 0.03, 0.045, 0.07, 0.11}) {
        scale_ = scale;
        noise_ = noise;
        const double plausible = log_likelihood() - square(std::log(scale)) / 2 -
                                 square(std::log(noise / usual_noise) / 0.7) / 2;
        if (plausible <= best) continue;
        best = plausible;
        chosen = {scale, noise};
      }
    }
    std::tie(scale_, noise_) = chosen;
    return chosen != before;
  }

  double log_likelihood() const {
    Cholesky factor;
    std::vector<double> values;
    double squares = 0;
    for (std::size_t s = 0; s < seen_.size(); ++s) {
      factor.append(covariances_of_seen(s));
      factor.solve_next(values, seen_[s].residual);
      squares += square(values.back());
    }
    return -squares / 2 - factor.log_determinant() / 2;
  }

  std::vector<Candidate> candidates_;
  SimilarityKernel similarity_;
  double drift_s_;
  std::vector<Seen> seen_;
  std::vector<std::vector<Covariance>> beside_;  ///< of each candidate with each that was seen
  double scale_ = 1;
  double noise_ = usual_noise;
  std::size_t next_choice_ = 0;                ///< of the scales, at so many scores
  Cholesky factor_;                            ///< of the covariance of what was learnt from
  std::vector<double> residuals_;              ///< L^-1 of them
  std::vector<CandidatePosterior> posterior_;  ///< of each candidate
};

/// What is taken off the log-score of each candidate for its cost: between equals the cheapest is
/// preferred, by at most 0.8 %.
inline std::vector<double> cost_penalty_of(const Surrogate& surrogate, const Config& now) {
  constexpr double largest_penalty = 0.008;
  std::vector<std::size_t> order(surrogate.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cheaper(surrogate.config(a), surrogate.config(b), now);
  });
  std::vector<double> cost_penalty(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    cost_penalty[order[rank]] =
        largest_penalty * static_cast<double>(rank) / static_cast<double>(order.size());
  }
  return cost_penalty;
}

}  // namespace feedrate::inline v0
