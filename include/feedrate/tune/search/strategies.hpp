// SPDX-License-Identifier: Apache-2.0
// The strategies by name. A new one is a file and a line here.
#pragma once

#include <array>
#include <string_view>

#include "feedrate/core/named.hpp"
#include "feedrate/tune/search/grid.hpp"
#include "feedrate/tune/search/halving.hpp"
#include "feedrate/tune/search/model_search.hpp"
#include "feedrate/tune/search/random_search.hpp"

namespace feedrate::inline v0 {

inline constexpr std::array strategies = {model_strategy, grid_strategy, random_strategy,
                                          halving_strategy};

/// Throws Error(usage) where there is none of that name.
inline const Strategy& strategy_named(std::string_view name) {
  return entry_named(strategies, name, "search");
}

}  // namespace feedrate::inline v0
