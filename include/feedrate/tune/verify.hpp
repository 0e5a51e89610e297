// SPDX-License-Identifier: Apache-2.0
// Verifying: the recommended config against the reference once more, free of the luck of the race.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "feedrate/tune/sweep.hpp"

namespace feedrate {
namespace detail {

/// One more pair of rounds; the log-ratio of their rates, or empty where one failed or the two ran
/// in different processes. They take turns in going first, so that a steady drift cancels.
inline std::optional<double> verify_once(Sweep& sweep, bool reference_first) {
  const std::size_t ours = sweep.outcome().choice().trial;
  const std::size_t theirs = sweep.outcome().reference;
  const auto first = sweep.run(reference_first ? theirs : ours, "verify");
  const auto second = sweep.run(reference_first ? ours : theirs, "verify");
  if (!first || !second || first->block != second->block) return std::nullopt;
  return reference_first ? second->rate - first->rate : first->rate - second->rate;
}

}  // namespace detail

/// Runs the recommended config against the reference five times more, in turn, within `share` of
/// the budget. False where one of the two failed in it: then the choice is to be made anew.
inline bool verify(Sweep& sweep, double share) {
  constexpr int repeats = 5;
  Outcome& outcome = sweep.outcome();
  if (outcome.tiers.empty() || outcome.choice().trial == outcome.reference) return true;
  if (!sweep.score(outcome.reference)) return true;
  std::vector<double> ratios;
  while (std::ssize(ratios) < repeats && !sweep.stopped() && !sweep.is_past(share)) {
    const auto ratio = detail::verify_once(sweep, std::ssize(ratios) % 2 == 1);
    if (!ratio) break;
    ratios.push_back(std::exp(*ratio));
  }
  if (!sweep.is_open(outcome.choice().trial) || !sweep.is_open(outcome.reference)) return false;
  if (ratios.size() < 2) return true;
  outcome.verified = geometric_interval(ratios, 0.05);
  outcome.verified_rounds = static_cast<int>(ratios.size());
  return true;
}

}  // namespace feedrate
