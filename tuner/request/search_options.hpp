// SPDX-License-Identifier: Apache-2.0
// What a search is asked for on the command line, whatever it searches: tiers, objective, strategy
// and budget. Every function throws Error(usage) on text that is none.
#pragma once

#include <string>
#include <vector>

#include "feedrate/tune/state/options.hpp"

namespace feedrate {

/// The tiers of --allow, narrowest first, and safe always among them: what is best at the own batch
/// and precision is told anyway. `otherwise` where nothing was said.
std::vector<Tier> parse_tiers(const std::string& text, std::vector<Tier> otherwise);

bool contains(const std::vector<Tier>& tiers, Tier tier);

Objective parse_objective(const std::string& text);

/// Of --wider-gain; `otherwise` where nothing was given.
double parse_wider_gain(const std::string& text, double otherwise);

/// `otherwise` where nothing was said.
Search parse_search(const std::string& text, Search otherwise);

/// Seconds; `otherwise` where nothing was said. What is shorter than `shortest_s` is refused:
/// `why` says what it is too short for.
double parse_budget(const std::string& text, double otherwise, double shortest_s,
                    const std::string& why);

}  // namespace feedrate
