// SPDX-License-Identifier: Apache-2.0
// The regret of a race's choice: how much faster other configs may still be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "feedrate/measure/statistics.hpp"
#include "feedrate/tune/race/finalists.hpp"
#include "feedrate/tune/race/race.hpp"

namespace feedrate::inline v0 {

/// Mean of what the best rival may be faster by, beyond the finest difference; in logarithms.
inline double expected_loss(const Race& race, std::size_t choice,
                            const std::vector<std::size_t>& trials) {
  double largest = 0;
  for (const std::size_t trial : trials) {
    if (trial == choice) continue;
    const auto [ahead, error] = race.best_difference(trial, choice);
    largest = std::max(largest, expected_excess(ahead - finest_difference, error));
  }
  return largest;
}

/// By so much a rival could still be faster, with 95 % confidence: 0.05 is 5 %. Unlike the loss,
/// which more passes make smaller, it holds what pairs do not show.
inline double gain_upper_bound(const Race& race, std::size_t choice,
                               const std::vector<std::size_t>& trials) {
  double largest = 0;
  for (const std::size_t trial : trials) {
    if (trial == choice) continue;
    const auto [ahead, error] = race.best_difference(trial, choice);
    largest = std::max(largest, std::expm1(ahead + 1.645 * std::hypot(error, race.wander())));
  }
  return largest;
}

}  // namespace feedrate::inline v0
