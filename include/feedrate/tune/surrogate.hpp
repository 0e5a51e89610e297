// SPDX-License-Identifier: Apache-2.0
// The surrogate: what the model leaves unexplained, learnt as a Gaussian process over the axes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "feedrate/tune/cholesky.hpp"
#include "feedrate/tune/likeness.hpp"
#include "feedrate/tune/space.hpp"

namespace feedrate {

/// Kriging of log(measured / predicted): configs that are alike err alike, so that a few measured
/// ones correct the predictions of all. Source: C. E. Rasmussen, C. K. I. Williams, "Gaussian
/// Processes for Machine Learning", 2006, algorithm 2.1; the mean function is the prediction.
class Surrogate {
 public:
  /// Measurements within `drift_s` share the machine's momentary speed.
  Surrogate(std::vector<Candidate> candidates, double drift_s)
      : candidates_(std::move(candidates)),
        likeness_(candidates_),
        drift_s_(drift_s),
        beside_(candidates_.size()),
        mean_(candidates_.size()),
        deviation_(candidates_.size()) {}

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
  /// the next, and cost the most: they are chosen anew with each eighth more.
  void learn() {
    if (seen_.size() >= next_choice_) {
      choose_scales();
      next_choice_ = seen_.size() + 1 + seen_.size() / 8;
    }
    const Cholesky factor(covariance());
    std::vector<double> weights = residuals();
    factor.solve(weights);
    for (std::size_t i = 0; i < candidates_.size(); ++i) estimate(i, factor, weights);
  }

  /// Mean and standard deviation of a candidate's true log-score, given what was observed.
  double mean(std::size_t i) const { return mean_[i]; }
  double deviation(std::size_t i) const { return deviation_[i]; }
  /// Standard deviation of the log-score of one round.
  double noise() const noexcept { return noise_; }

 private:
  struct Seen {
    std::size_t candidate;
    double residual;
    double time_s;
  };

  /// Standard deviations of the model's error, in logarithms: one for all configs, one for what
  /// busy cores cost each other, one per axis, one per place in the space, one per
  /// config; and the machine's drift.
  static constexpr double common = 0.1, crowd = 0.3;
  static constexpr double axis = 0.05, place = 0.05, single = 0.006, drift = 0.015;
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
    likeness_.for_each_axis(a, b, [&](double alike) {
      sum += alike;
      product *= alike;
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
  /// anew.
  double beyond_half(std::size_t i) const { return std::max(0.0, 2 * busy(i) - 1); }

  std::vector<std::vector<double>> covariance() const {
    std::vector<std::vector<double>> matrix(seen_.size(), std::vector<double>(seen_.size()));
    for (std::size_t a = 0; a < seen_.size(); ++a) {
      for (std::size_t b = 0; b < seen_.size(); ++b) {
        const double apart = std::abs(seen_[a].time_s - seen_[b].time_s) / drift_s_;
        matrix[a][b] = beside_[seen_[a].candidate][b].at(scale_) +
                       square(drift) * std::exp(-apart) + (a == b ? square(noise_) : 0);
      }
    }
    return matrix;
  }

  std::vector<double> residuals() const {
    std::vector<double> values;
    for (const Seen& seen : seen_) values.push_back(seen.residual);
    return values;
  }

  void estimate(std::size_t i, const Cholesky& factor, const std::vector<double>& weights) {
    std::vector<double> shared(seen_.size());
    double residual = 0;
    for (std::size_t s = 0; s < seen_.size(); ++s) {
      shared[s] = beside_[i][s].at(scale_);
      residual += shared[s] * weights[s];
    }
    factor.solve_lower(shared);
    double known = 0;
    for (const double part : shared) known += square(part);
    mean_[i] = candidates_[i].log_predicted + residual;
    deviation_[i] = std::sqrt(std::max(1e-12, covariance(i, i).at(scale_) - known));
  }

  /// Takes the scale of the model's errors and the noise under which the residuals are likeliest,
  /// each with a broad prior around what is usual.
  void choose_scales() {
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
  }

  double log_likelihood() const {
    const Cholesky factor(covariance());
    std::vector<double> values = residuals();
    factor.solve_lower(values);
    double squares = 0;
    for (const double value : values) squares += square(value);
    return -squares / 2 - factor.log_determinant() / 2;
  }

  std::vector<Candidate> candidates_;
  Likeness likeness_;
  double drift_s_;
  std::vector<Seen> seen_;
  std::vector<std::vector<Covariance>> beside_;  ///< of each candidate with each that was seen
  double scale_ = 1;
  double noise_ = usual_noise;
  std::size_t next_choice_ = 0;  ///< of the scales, at so many scores
  std::vector<double> mean_, deviation_;
};

/// What is taken off the log-score of each candidate for its cost: between equals the cheapest is
/// preferred, by at most 0.8 %.
inline std::vector<double> thrift_of(const Surrogate& surrogate) {
  constexpr double most = 0.008;
  std::vector<std::size_t> order(surrogate.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cheaper(surrogate.config(a), surrogate.config(b));
  });
  std::vector<double> thrift(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    thrift[order[rank]] = most * static_cast<double>(rank) / static_cast<double>(order.size());
  }
  return thrift;
}

}  // namespace feedrate
