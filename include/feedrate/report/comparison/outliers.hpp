// SPDX-License-Identifier: Apache-2.0
// Outliers among the values of many machines: pure functions.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

/// Values whose modified z-score is beyond this are outliers.
/// Source: B. Iglewicz and D. C. Hoaglin, "How to Detect and Handle Outliers", 1993.
inline constexpr double outlier_z = 3.5;

/// Smaller differences from the median are no outliers, however alike the others are: the spread of
/// few values is often small by chance.
inline constexpr double smallest_outlier = 0.05;

/// How many standard deviations each value lies from the median, by the median absolute deviation
/// (MAD), which outliers don't inflate: 0.6745 (x - median) / MAD. Where more than half of the
/// values are equal that is 0, and the mean absolute deviation takes its place. Needs a value.
inline std::vector<double> modified_z_scores(std::span<const double> values) {
  const double middle = median(values);
  std::vector<double> sizes;
  for (const double value : values) sizes.push_back(std::abs(value - middle));
  const double half_size = median(sizes);
  // The deviation of a normal variable by its median, or else by its mean, absolute deviation.
  const double deviation =
      half_size > 0 ? half_size / 0.6745 : mean(sizes) * std::sqrt(std::numbers::pi / 2);
  std::vector<double> scores;
  for (const double value : values) {
    scores.push_back(deviation > 0 ? (value - middle) / deviation : 0);
  }
  return scores;
}

/// A value among others.
struct Deviation {
  std::size_t report = 0;
  double value = 0;
  double z = 0;    ///< modified z-score
  double off = 0;  ///< relative to the median: -0.1 is 10 % below it
  bool outlier = false;
};

inline Deviation deviation_of(std::size_t report, double value, double middle, double z) {
  const double off = middle != 0 ? value / middle - 1 : 0;
  const bool outlier = std::abs(z) > outlier_z && std::abs(off) > smallest_outlier;
  return {report, value, z, off, outlier};
}

}  // namespace feedrate::inline v0
