// SPDX-License-Identifier: Apache-2.0
// Fits: laws of few terms to few measured points, by least squares of relative errors.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "feedrate/tune/model/demands.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Up to three terms per point, and their coefficients.
using Terms = std::array<double, 3>;

/// Solves the normal equations of the terms that `used` names, by elimination with pivots; the
/// coefficients of all others are 0, and so are those that the points don't determine.
inline Terms solve_normal(std::array<Terms, 3> matrix, Terms right,
                          const std::array<bool, 3>& used) {
  std::array<std::size_t, 3> order{};
  std::size_t count = 0;
  for (std::size_t t = 0; t < 3; ++t) {
    if (used[t]) order[count++] = t;
  }
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t p = order[k];
    if (std::abs(matrix[p][p]) < 1e-12) continue;
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t q = order[r];
      if (q == p) continue;
      const double factor = matrix[q][p] / matrix[p][p];
      for (std::size_t c = 0; c < count; ++c) matrix[q][order[c]] -= factor * matrix[p][order[c]];
      right[q] -= factor * right[p];
    }
  }
  Terms solution{};
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t p = order[k];
    if (std::abs(matrix[p][p]) >= 1e-12) solution[p] = right[p] / matrix[p][p];
  }
  return solution;
}

/// Coefficients >= 0 with sum_t coefficient[t] terms(x)[t] close to y for each point (x, y), where
/// "close" is relative. Tries all sets of terms: there are at most seven. Source: the active sets
/// of C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems", 1974, enumerated.
template <class TermsOf>
Terms fit_nonnegative(const Measured& points, std::size_t terms, TermsOf&& terms_of) {
  std::array<Terms, 3> matrix{};
  Terms right{};
  for (const auto& [x, y] : points) {
    const Terms row = terms_of(x);
    for (std::size_t a = 0; a < terms; ++a) {
      for (std::size_t b = 0; b < terms; ++b) matrix[a][b] += row[a] * row[b] / (y * y);
      right[a] += row[a] / y;
    }
  }
  Terms best{};
  double least = HUGE_VAL;
  for (unsigned set = 1; set < (1u << terms); ++set) {
    const Terms fit = solve_normal(matrix, right, {(set & 1) != 0, (set & 2) != 0, (set & 4) != 0});
    double error = 0;
    bool negative = false;
    for (const double coefficient : fit) negative |= coefficient < 0;
    for (const auto& [x, y] : points) {
      const Terms row = terms_of(x);
      double value = 0;
      for (std::size_t t = 0; t < terms; ++t) value += fit[t] * row[t];
      error += (value / y - 1) * (value / y - 1);
    }
    if (negative || error >= least - 1e-12) continue;
    least = error;
    best = fit;
  }
  return best;
}

}  // namespace detail

/// The law of a loader's rates (samples/s) by workers from 1; as many of its terms as there are
/// points. Since n / X(n) = (1 + sigma (n - 1) + kappa n (n - 1)) / lambda, the fit is linear.
inline ScalabilityLaw fit_scalability(const Measured& rates) {
  Measured times;
  for (const auto& [n, rate] : rates) times[n] = n / rate;
  const std::size_t terms = std::min<std::size_t>(times.size(), 3);
  const auto [a, b, c] = detail::fit_nonnegative(times, terms, [](double n) -> detail::Terms {
    return {1, n - 1, n * (n - 1)};
  });
  if (a <= 0) return {times.empty() ? 0 : 1 / times.begin()->second, 0, 0};
  return {1 / a, b / a, c / a};
}

/// The time of a step from its seconds by batch. One point says nothing of what a step costs
/// beside its samples.
inline StepTime fit_step(const Measured& seconds) {
  if (seconds.size() == 1) return {0, seconds.begin()->second / seconds.begin()->first};
  const auto [alpha, beta, unused] =
      detail::fit_nonnegative(seconds, 2, [](double batch) -> detail::Terms {
        return {1, batch, 0};
      });
  static_cast<void>(unused);
  return {alpha, beta};
}

/// The law of a kind of step. One that was seen with a single batch is taken to follow the batch as
/// another kind of `known` does.
inline StepTime fit_step(const StepDemand& step, const std::vector<StepDemand>& known) {
  const StepDemand* like = nullptr;
  for (const StepDemand& other : known) {
    const bool better =
        !like || (like->precision != step.precision && other.precision == step.precision);
    if (other.seconds.size() > 1 && better) like = &other;
  }
  if (step.seconds.size() > 1 || !like) return fit_step(step.seconds);
  const auto& [batch, seconds] = *step.seconds.begin();
  const double slower = seconds / like->time(batch);
  return {slower * like->time.alpha_s, slower * like->time.beta_s};
}

}  // namespace feedrate::inline v0
