// SPDX-License-Identifier: Apache-2.0
// The trimmed mean and its standard error: a few wild values move neither.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

/// A mean, its standard error, and the degrees of freedom of that error.
struct RobustMean {
  double mean = 0;
  double error = std::numeric_limits<double>::infinity();
  double freedom = 1;

  /// Bounds that the true value passes with probability `alpha` each.
  double low(double alpha) const noexcept { return mean - quantile(alpha) * error; }
  double high(double alpha) const noexcept { return mean + quantile(alpha) * error; }

 private:
  double quantile(double alpha) const noexcept { return student_quantile(freedom, 2 * alpha); }
};

/// The mean without the lowest and the highest tenth of the values (rounded down), at least one
/// value. Source: J. W. Tukey and D. H. McLaughlin, "Less Vulnerable Confidence and Significance
/// Procedures for Location Based on a Single Sample: Trimming/Winsorization 1", Sankhya A 25
/// (1963).
inline RobustMean robust_mean(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t count = sorted.size(), cut = count / 10, kept = count - 2 * cut;
  const double center = mean(std::span(sorted).subspan(cut, kept));
  if (count < 2) return {.mean = center};
  std::fill_n(sorted.begin(), cut, sorted[cut]);
  std::fill_n(sorted.rbegin(), cut, sorted[count - 1 - cut]);
  const double winsorised = standard_deviation(sorted);
  const auto n = static_cast<double>(count), k = static_cast<double>(kept);
  return {center, winsorised * std::sqrt(n) / k, k - 1};
}

}  // namespace feedrate::inline v0
