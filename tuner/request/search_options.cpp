// SPDX-License-Identifier: Apache-2.0
#include "request/search_options.hpp"

#include <algorithm>
#include <utility>

#include "feedrate/core/error.hpp"
#include "request/axes.hpp"

namespace feedrate {
std::vector<Tier> parse_tiers(const std::string& text, std::vector<Tier> otherwise) {
  if (text.empty()) return otherwise;
  std::vector<Tier> tiers;
  for (const std::size_t index :
       parse_names("--allow", text, {tier_names.begin(), tier_names.end()})) {
    tiers.push_back(static_cast<Tier>(index));
  }
  if (!contains(tiers, Tier::safe)) tiers.push_back(Tier::safe);
  std::sort(tiers.begin(), tiers.end());
  return tiers;
}

bool contains(const std::vector<Tier>& tiers, Tier tier) {
  return std::find(tiers.begin(), tiers.end(), tier) != tiers.end();
}

Objective parse_objective(const std::string& text) {
  return static_cast<Objective>(
      parse_name("--objective", text, {objective_names.begin(), objective_names.end()}));
}

double parse_wider_gain(const std::string& text, double otherwise) {
  return text.empty() ? otherwise : parse_percent("--wider-gain", text);
}

Search parse_search(const std::string& text, Search otherwise) {
  if (text.empty()) return otherwise;
  return static_cast<Search>(
      parse_name("--search", text, {search_names.begin(), search_names.end()}));
}

double parse_budget(const std::string& text, double otherwise, double shortest_s,
                    const std::string& why) {
  if (text.empty()) return otherwise;
  const double budget_s = parse_seconds("--budget", text);
  if (budget_s <= 0) throw Error(Fault::usage, "--budget must be more than 0, such as 60s.");
  if (budget_s >= shortest_s) return budget_s;
  throw Error(Fault::usage, "--budget " + text + " is " + why + ": give it some seconds.");
}

}  // namespace feedrate
