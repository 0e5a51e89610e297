// SPDX-License-Identifier: Apache-2.0
// A strategy: how a sweep chooses the configs that it measures. Each is one file, and one line of
// strategies.hpp. All end in the same race.
#pragma once

#include <string_view>

#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

struct Strategy {
  std::string_view name;
  /// Runs rounds until `share` of the budget is used, or none promises anything more.
  void (*run)(Sweep&, double share);
  bool needs_parts = false;  ///< it measures the parts of a pipeline, each alone
};

}  // namespace feedrate::inline v0
