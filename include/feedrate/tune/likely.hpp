// SPDX-License-Identifier: Apache-2.0
// What is likely to be faster by all rounds that there are, before the race and in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "feedrate/measure/statistics.hpp"
#include "feedrate/tune/sweep.hpp"

namespace feedrate {
namespace detail {

/// The objective of each round of a trial.
inline std::vector<double> objectives_of(const Sweep& sweep, std::size_t index) {
  const Trial& trial = sweep.trial(index);
  std::vector<double> objectives;
  for (const Round& round : trial.rounds) {
    objectives.push_back(sweep.score(round, trial.config).objective);
  }
  return objectives;
}

}  // namespace detail

/// Whether `a` is ahead of `b` by all of their rounds, three each or more, beyond a 95 % interval.
/// They were not run in turn, and `a` may be one of many: that makes it likely, and shows nothing.
/// A race that was short has few rounds of its own.
inline bool is_likely_by_all_rounds(const Sweep& sweep, std::size_t a, std::size_t b) {
  constexpr std::size_t least = 3;
  const std::vector<double> of_a = detail::objectives_of(sweep, a);
  const std::vector<double> of_b = detail::objectives_of(sweep, b);
  return std::min(of_a.size(), of_b.size()) >= least && mean_difference(of_a, of_b, 0.05).low > 0;
}

}  // namespace feedrate
