// SPDX-License-Identifier: Apache-2.0
// The time that is left for the proof of what leads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "feedrate/tune/race/proof_interval.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0::detail {

/// Seconds of one more round of a trial that was measured, with what it costs beside.
inline double next_round_s(const Sweep& sweep, std::size_t trial) {
  const Trial& known = sweep.trial(trial);
  return known.rounds.back().duration_s + sweep.costs().of(known.config);
}

/// A trial and its log-score.
using Scored = std::pair<std::size_t, double>;

/// Sets aside the time that the proof will need beyond its own share, which is 5 s at least, up to
/// 35 % of the budget. Search and race then end earlier. Up to three pairs fit into the own share
/// or may take longer. With less than 30 s nothing is set aside: on the machines of bench/simulate
/// from seed 2,000,001 on, the search needs all of such a budget. `scatter` is the standard
/// deviation of a pair, and `leader_of` gives the Scored leader of a tier, or nothing.
template <class LeaderOf>
void leave_time_for_proof(Sweep& sweep, const Scored& reference, double scatter,
                          LeaderOf&& leader_of) {
  constexpr int few_pairs = 3;
  constexpr double least_budget_s = 30;
  constexpr double own_share = 0.08, own_s = 5, most_share = 0.35;
  const double budget_s = sweep.options().budget_s;
  if (budget_s < least_budget_s) return;
  int pairs = 0;
  double pass_s = next_round_s(sweep, reference.first);
  std::vector<std::size_t> proven = {reference.first};
  for (const Tier tier : sweep.options().allowed) {
    const std::optional<Scored> leader = leader_of(tier);
    if (!leader || std::find(proven.begin(), proven.end(), leader->first) != proven.end()) continue;
    proven.push_back(leader->first);
    pairs = std::max(pairs, pairs_to_prove(leader->second - reference.second, scatter));
    pass_s += next_round_s(sweep, leader->first);
  }
  const double beyond_s = pairs * pass_s - std::max(own_s, own_share * budget_s);
  sweep.set_aside(pairs > few_pairs ? std::clamp(beyond_s, 0.0, most_share * budget_s) : 0);
}

}  // namespace feedrate::inline v0::detail
