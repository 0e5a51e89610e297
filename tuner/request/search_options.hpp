// SPDX-License-Identifier: Apache-2.0
// What a search is asked for, whatever it searches.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/tune/state/options.hpp"

namespace feedrate {

/// The tiers of --allow, narrowest first, and safe always among them: what is best at the own batch
/// and precision is told anyway. Throws Error(usage).
std::vector<Tier> parse_tiers(std::string_view flag, std::string_view text);

bool contains(const std::vector<Tier>& tiers, Tier tier);

/// Seconds; `otherwise` where none were given. Throws Error(usage) on fewer than `shortest_s`:
/// `why` says what they are too few for.
double budget_or(const std::optional<double>& budget_s, double otherwise, double shortest_s,
                 const std::string& why);

}  // namespace feedrate
