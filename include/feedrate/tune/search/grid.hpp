// SPDX-License-Identifier: Apache-2.0
// The strategy grid.
#pragma once

#include "feedrate/tune/search/passes.hpp"
#include "feedrate/tune/search/strategy.hpp"

namespace feedrate::inline v0 {

/// Every config, pass after pass, each pass in another order.
inline void search_grid(Sweep& sweep, double share) {
  Random random(sweep.options().seed, 1, 0);
  while (detail::run_pass(sweep, detail::shuffled_trials(sweep, random), share)) {
  }
}

inline constexpr Strategy grid_strategy{.name = "grid", .run = search_grid};

}  // namespace feedrate::inline v0
