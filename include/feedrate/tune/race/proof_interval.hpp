// SPDX-License-Identifier: Apache-2.0
// What new pairs show of one config against another, and how many will show a gain.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "feedrate/measure/statistics.hpp"
#include "feedrate/tune/race/race_noise.hpp"

namespace feedrate::inline v0 {

/// After so many passes the data of a proof are analysed; the chance to be wrong is split among
/// them.
inline constexpr std::array<int, 5> interim_analyses = {2, 4, 7, 12, 20};
/// Of the intervals by which a change is recommended: up to three choices are proven, and where
/// nothing is faster 1 % of all answers may be wrong.
inline constexpr double proof_alpha = 0.01;

namespace detail {

/// The scatter that was known before counts as so many pairs.
inline constexpr double usual_pairs = 4;

/// Half of the interval of the mean of so many log-ratios. `scatter` is their standard deviation,
/// joined with that of the `usual_pairs`. Its parts are the error of a mean by Student's t, and
/// what pairs do not show.
inline double proof_error(double pairs, double scatter, double alpha) {
  const double per_analysis = alpha / static_cast<double>(interim_analyses.size());
  const double quantile = student_quantile(pairs - 1 + usual_pairs, per_analysis);
  return std::hypot(quantile * scatter / std::sqrt(pairs),
                    normal_quantile(alpha / 2) * wander_of(scatter));
}

}  // namespace detail

/// What fresh pairs say of one config against another, whenever they are analysed.
///
/// The scatter of few pairs is joined with `usual`, that of a pair in the race, as if that were 4
/// more pairs.
inline Interval proof_interval(std::span<const double> log_ratios, double usual, double alpha) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (log_ratios.empty()) return {0, -infinity, infinity};
  const auto n = static_cast<double>(log_ratios.size());
  const double own = n > 1 ? standard_deviation(log_ratios) : 0;
  const double squares = (n - 1) * own * own + detail::usual_pairs * usual * usual;
  const double scatter = std::sqrt(squares / (n - 1 + detail::usual_pairs));
  const double center = mean(log_ratios), half = detail::proof_error(n, scatter, alpha);
  return {center, center - half, center + half};
}

/// The number of pairs that show a gain, in logarithms, with a chance of 80 %, where pairs scatter
/// by `scatter`; 0 if 20 do not.
inline int pairs_to_prove(double gain, double scatter) {
  static const double luck = normal_quantile(0.2);
  for (int pairs = interim_analyses.front(); pairs <= interim_analyses.back(); ++pairs) {
    const double error = detail::proof_error(pairs, scatter, proof_alpha);
    if (gain > error + luck * scatter / std::sqrt(pairs)) return pairs;
  }
  return 0;
}

}  // namespace feedrate::inline v0
