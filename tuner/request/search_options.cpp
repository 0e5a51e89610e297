// SPDX-License-Identifier: Apache-2.0
#include "request/search_options.hpp"

#include <algorithm>

#include "feedrate/core/error.hpp"
#include "feedrate/report/text/format.hpp"
#include "values/axes.hpp"

namespace feedrate {

std::vector<Tier> parse_tiers(std::string_view flag, std::string_view text) {
  std::vector<Tier> tiers;
  for (const std::size_t index : parse_names(flag, text, {tier_names.begin(), tier_names.end()})) {
    tiers.push_back(static_cast<Tier>(index));
  }
  if (!contains(tiers, Tier::safe)) tiers.push_back(Tier::safe);
  std::sort(tiers.begin(), tiers.end());
  return tiers;
}

bool contains(const std::vector<Tier>& tiers, Tier tier) {
  return std::find(tiers.begin(), tiers.end(), tier) != tiers.end();
}

double budget_or(const std::optional<double>& budget_s, double otherwise, double shortest_s,
                 const std::string& why) {
  if (!budget_s || *budget_s >= shortest_s) return budget_s.value_or(otherwise);
  throw Error(Fault::usage, "--budget of " + format_duration(*budget_s) + " is " + why +
                                ": give it some seconds.");
}

}  // namespace feedrate
