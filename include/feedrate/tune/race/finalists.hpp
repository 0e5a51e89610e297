// SPDX-License-Identifier: Apache-2.0
// The finalists: the configs of each tier that go from exploration to the race.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "feedrate/tune/race/race.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// Log-scores that differ by less than this count as equal: 1 %.
inline constexpr double finest_difference = 0.01;
/// A tier whose leader is behind that of the widest by more than this, in logarithms, is not
/// recommended beside it: its configs get less of the time.
inline constexpr double far_behind = 0.2;

namespace detail {

/// The only one of a race, where it was measured so often; nothing where it has rivals.
inline std::optional<std::size_t> lone_runner(const Race& race, const Sweep& sweep,
                                              std::size_t rounds) {
  const auto& trials = sweep.outcome().trials;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    if (race.is_only(t) && trials[t].rounds.size() >= rounds) return t;
  }
  return std::nullopt;
}

/// The measured trials of a tier, best first.
inline std::vector<std::size_t> scored(const Sweep& sweep, Tier tier) {
  std::vector<std::size_t> trials;
  for (std::size_t t = 0; t < sweep.outcome().trials.size(); ++t) {
    if (sweep.within(t, tier) && sweep.score(t)) trials.push_back(t);
  }
  std::stable_sort(trials.begin(), trials.end(), [&](std::size_t a, std::size_t b) {
    return *sweep.posterior_mean(a) > *sweep.posterior_mean(b);
  });
  return trials;
}

/// Which of two equally fast trials is the cheaper.
inline bool is_cheaper(const Sweep& sweep, std::size_t a, std::size_t b) {
  return cheaper(sweep.trial(a).config, sweep.trial(b).config, sweep.reference());
}

/// Brings the cheapest of those that are as good as the first to the front.
inline void prefer_cheapest(const Sweep& sweep, std::vector<std::size_t>& best) {
  const double good_score = *sweep.posterior_mean(best.front()) - finest_difference;
  auto cheapest = best.begin();
  for (auto trial = best.begin(); trial != best.end(); ++trial) {
    const bool is_good = *sweep.posterior_mean(*trial) > good_score;
    if (is_good && is_cheaper(sweep, *trial, *cheapest)) cheapest = trial;
  }
  std::rotate(best.begin(), cheapest, cheapest + 1);
}

/// Of one tier the cheapest that is as good as its leader, the leader, and the next best that may
/// be as good. Six and 2.5 are of the simulated machines of bench/simulate: with four and 1.5 fewer
/// answers were within 2 % of the best, with eight and 3 no more.
inline std::vector<std::size_t> finalists_of(const Sweep& sweep, Tier tier) {
  constexpr std::size_t most_finalists = 6;
  const double margin = std::max(0.03, 2.5 * sweep.noise.value_or(0.1));
  std::vector<std::size_t> best = scored(sweep, tier);
  if (best.empty()) return best;
  const double least = *sweep.posterior_mean(best.front()) - margin;
  std::erase_if(best, [&](std::size_t trial) { return *sweep.posterior_mean(trial) < least; });
  prefer_cheapest(sweep, best);
  best.resize(std::min(best.size(), most_finalists));
  return best;
}

}  // namespace detail

/// Trials of the tiers that may change, each once. The reference is among them where it may be as
/// good as the best: a proof compares with it in any case. Where it is the only one of its tier
/// nobody runs against it, unless it is all there is, and a tier that is far behind what may be
/// recommended is left as it was explored.
inline std::vector<std::size_t> finalists(const Sweep& sweep) {
  std::vector<std::size_t> all;
  const auto widest = detail::finalists_of(sweep, widest_recommended(sweep.options()));
  for (const Tier tier : sweep.options().allowed) {
    const auto own = detail::finalists_of(sweep, tier);
    if (own.size() == 1 && own.front() == sweep.outcome().reference) continue;
    if (own.empty()) continue;
    const double best = *sweep.posterior_mean(widest.empty() ? own.front() : widest.front());
    if (*sweep.posterior_mean(own.front()) < best - far_behind) continue;
    for (const std::size_t trial : own) {
      if (std::find(all.begin(), all.end(), trial) == all.end()) all.push_back(trial);
    }
  }
  return all.empty() ? widest : all;
}

}  // namespace feedrate::inline v0
