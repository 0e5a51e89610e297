// SPDX-License-Identifier: Apache-2.0
// The noise of a race: the deviation of one round from the effects of its runner and its pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

/// Standard deviation of what pairs of the same seconds do not show, where a pair's log-ratio
/// scatters by `scatter`: a config may be a little faster or slower for a minute. It is more on
/// noisy machines. Source: the simulated machines of bench/simulate. Without it 95 % intervals of
/// five pairs missed 15 % of them; with 0.4 and 0.004 a change was recommended on 3 % of those
/// whose configs are all equal. The most is that of two configs that wander by 2 % each: on 1 % of
/// hostile machines of equal configs a change is then recommended. On a rented machine whose pairs
/// scatter by 9 to 14 %, sixteen runs showed a wander of 0 to 2.2 % (results/slow-change.json).
inline double wander_of(double scatter) noexcept {
  constexpr double share = 0.7, least = 0.015, most = 0.03;
  return std::clamp(share * scatter, least, most);
}

/// Variance of one round within its pass. Runners whose rounds scatter far more than the others'
/// are outliers: one bad round would hide what is known of all others.
struct RaceNoise {
  double variance = std::numeric_limits<double>::infinity();  ///< of the steady, all together
  double freedom = 0;                                         ///< degrees of freedom of it
  std::vector<double> wild;  ///< variance of each outlier; 0: a steady runner

  double variance_of(std::size_t runner) const {
    return is_outlier(runner) ? std::max(variance, wild[runner]) : variance;
  }
  bool is_outlier(std::size_t runner) const { return runner < wild.size() && wild[runner] > 0; }
};

namespace detail {

/// What is left of the scores of each pass when each runner's mean is taken away, by runner.
using Rest = std::vector<std::pair<std::size_t, double>>;

inline std::vector<Rest> rests_of(const std::vector<std::vector<double>>& scores, int passes) {
  std::vector<Rest> rests(static_cast<std::size_t>(passes));
  for (std::size_t r = 0; r < scores.size(); ++r) {
    const std::size_t own = std::min(scores[r].size(), rests.size());
    if (own < 2) continue;
    const double center = mean({scores[r].data(), own});
    for (std::size_t pass = 0; pass < own; ++pass) {
      rests[pass].emplace_back(r, scores[r][pass] - center);
    }
  }
  return rests;
}

/// Variance of each runner's rounds about the median of their pass, which an outlier of another
/// runner does not move; < 0 where there are too few.
inline std::vector<double> own_variances(const std::vector<Rest>& rests, std::size_t runners) {
  std::vector<double> squares(runners), freedom(runners, -1.0);
  for (const Rest& rest : rests) {
    std::vector<double> values;
    for (const auto& [runner, value] : rest) values.push_back(value);
    for (const auto& [runner, value] : rest) {
      const double left = value - median(values);
      squares[runner] += left * left;
      ++freedom[runner];
    }
  }
  for (std::size_t r = 0; r < runners; ++r)
    squares[r] = freedom[r] > 0 ? squares[r] / freedom[r] : -1;
  return squares;
}

/// The variance of each outlier, 0 for other runners. Of two runners, or few rounds, none is an
/// outlier.
inline std::vector<double> wild_variances(const std::vector<Rest>& rests, std::size_t runners) {
  constexpr std::size_t least_passes = 4, least_runners = 3;
  constexpr double wild = 16;  // times the variance of the median runner
  std::vector<double> variances(runners);
  if (rests.size() < least_passes) return variances;
  const std::vector<double> own = own_variances(rests, runners);
  std::vector<double> known;
  for (const double variance : own) {
    if (variance >= 0) known.push_back(variance);
  }
  if (known.size() < least_runners) return variances;
  const double usual = median(known);
  for (std::size_t r = 0; r < runners; ++r) {
    if (own[r] > wild * usual) variances[r] = own[r];
  }
  return variances;
}

}  // namespace detail

/// The noise of the first `passes` passes; `scores` are those of each runner, one per pass. Source:
/// the two-way layout without repeats, e.g. Scheffe, 1959, chapter 4.
inline RaceNoise noise_of(const std::vector<std::vector<double>>& scores, int passes) {
  const std::vector<detail::Rest> rests = detail::rests_of(scores, passes);
  RaceNoise noise;
  noise.wild = detail::wild_variances(rests, scores.size());
  double squares = 0;
  for (const detail::Rest& rest : rests) {
    std::vector<double> steady;
    for (const auto& [runner, value] : rest) {
      if (!noise.is_outlier(runner)) steady.push_back(value);
    }
    if (steady.size() < 2) continue;
    const double center = mean(steady);
    for (const double value : steady) squares += (value - center) * (value - center);
    noise.freedom += static_cast<double>(steady.size() - 1) * (passes - 1) / passes;
  }
  if (noise.freedom > 0) noise.variance = squares / noise.freedom;
  return noise;
}

}  // namespace feedrate::inline v0
