// SPDX-License-Identifier: Apache-2.0
// The Pareto front: the trials that no other beats in both rate and memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "feedrate/measure/trial.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Whether a trial has both figures that the front compares.
inline bool has_rate_and_memory(const Trial& trial) noexcept {
  return !trial.rounds.empty() && trial.status == TrialStatus::measured && trial.memory_bytes > 0;
}

}  // namespace detail

/// Indices of the measured trials that no other beats: each faster than all that need no more
/// memory. Least memory first; of trials alike in both, the first. Trials whose memory is unknown
/// take no part.
inline std::vector<std::size_t> pareto_front(const std::vector<Trial>& trials) {
  struct Point {
    std::size_t trial, bytes;
    double samples_per_s;
  };
  std::vector<Point> points;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    if (!detail::has_rate_and_memory(trials[t])) continue;
    points.push_back({t, trials[t].memory_bytes, trials[t].samples_per_s().estimate});
  }
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.samples_per_s > b.samples_per_s;
  });
  std::vector<std::size_t> front;
  double best = 0;
  for (const Point& point : points) {
    if (point.samples_per_s <= best) continue;
    best = point.samples_per_s;
    front.push_back(point.trial);
  }
  return front;
}

}  // namespace feedrate::inline v0
