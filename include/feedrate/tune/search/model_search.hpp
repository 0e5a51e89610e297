// SPDX-License-Identifier: Apache-2.0
// The strategy model: measure the parts, predict every config, measure where most may be gained.
#pragma once

#include "feedrate/tune/search/calibrate.hpp"
#include "feedrate/tune/search/explore.hpp"
#include "feedrate/tune/search/strategy.hpp"

namespace feedrate::inline v0 {

/// A third of its share goes to the parts at most.
inline void search_by_model(Sweep& sweep, double share) {
  Calibration(sweep, share / 3).run();
  Exploration(sweep).run(share);
}

inline constexpr Strategy model_strategy{
    .name = "model", .run = search_by_model, .needs_parts = true};

}  // namespace feedrate::inline v0
