// SPDX-License-Identifier: Apache-2.0
// The strategy random.
#pragma once

#include "feedrate/tune/search/passes.hpp"
#include "feedrate/tune/search/strategy.hpp"

namespace feedrate::inline v0 {

/// One round each of as many configs as there is time for. Source: J. Bergstra, Y. Bengio, "Random
/// Search for Hyper-Parameter Optimization", 2012.
inline void search_random(Sweep& sweep, double share) {
  Random random(sweep.options().seed, 1, 0);
  detail::run_pass(sweep, detail::shuffled_trials(sweep, random), share);
}

inline constexpr Strategy random_strategy{.name = "random", .run = search_random};

}  // namespace feedrate::inline v0
