// SPDX-License-Identifier: Apache-2.0
// The strategy grid.
#pragma once

#include "feedrate/tune/search/passes.hpp"
#include "feedrate/tune/search/strategy.hpp"

namespace feedrate::inline v0 {

/// Four passes over every config, each in another order: enough to choose those that race, where
/// they are measured again.
inline void search_grid(Sweep& sweep, double share) {
  constexpr int most_passes = 4;
  Random random(sweep.options().seed, 1, 0);
  for (int pass = 0; pass < most_passes; ++pass) {
    if (!detail::run_pass(sweep, detail::shuffled_trials(sweep, random), share)) return;
  }
}

inline constexpr Strategy grid_strategy{.name = "grid", .run = search_grid};

}  // namespace feedrate::inline v0
