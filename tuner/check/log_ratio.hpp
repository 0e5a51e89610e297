// SPDX-License-Identifier: Apache-2.0
// The ratio of today's value to the baseline's, with the noise of both.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "feedrate/measure/trial.hpp"

namespace feedrate {

inline Interval exp_of(const Interval& logs) {
  return {std::exp(logs.estimate), std::exp(logs.low), std::exp(logs.high)};
}

/// Half of the width of an interval's logarithm; infinite where a bound is not known.
inline double log_half(const Interval& interval) {
  const double half = (std::log(interval.high) - std::log(interval.low)) / 2;
  return std::isfinite(half) ? half : std::numeric_limits<double>::infinity();
}

/// Processes differ beyond the noise of their rounds: the baseline's figure is of `processes` of
/// them, each as far from the mean as today's.
inline double half_of_processes(const std::vector<double>& logs, std::size_t processes) {
  if (logs.size() < 2) return std::numeric_limits<double>::infinity();
  const double quantile = student_quantile(static_cast<double>(logs.size() - 1), 0.05);
  return quantile * standard_deviation(logs) / std::sqrt(static_cast<double>(processes));
}

inline std::size_t processes_of(const Trial& trial) {
  std::vector<int> blocks;
  for (const Round& round : trial.rounds) blocks.push_back(round.block);
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return std::max<std::size_t>(blocks.size(), 1);
}

/// Of today's value over the baseline's, with the noise of both.
inline Interval ratio_of(const std::vector<double>& logs, const Interval& base,
                         std::size_t processes) {
  const Interval now = mean_interval(logs, 0.05);
  const double center = now.estimate - std::log(base.estimate);
  const double half = std::hypot(std::hypot((now.high - now.low) / 2, log_half(base)),
                                 half_of_processes(logs, processes));
  return exp_of({center, center - half, center + half});
}

}  // namespace feedrate
