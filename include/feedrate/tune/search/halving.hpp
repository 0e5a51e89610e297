// SPDX-License-Identifier: Apache-2.0
// The strategy halving.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "feedrate/tune/search/passes.hpp"
#include "feedrate/tune/search/strategy.hpp"

namespace feedrate::inline v0 {

/// Successive halving: the better third goes on with three times the rounds. The first rung has as
/// many configs as make every rung cost the same. Source: K. Jamieson, A. Talwalkar,
/// "Non-stochastic Best Arm Identification and Hyperparameter Optimization", 2016, with eta = 3 as
/// in ASHA.
inline void search_halving(Sweep& sweep, double share) {
  constexpr std::size_t eta = 3;
  Random random(sweep.options().seed, 1, 0);
  std::vector<std::size_t> rung = detail::shuffled_trials(sweep, random);
  detail::run_pass(sweep, {sweep.outcome().reference}, share);
  const auto rungs_of = [](double n) {
    return std::floor(std::log(std::max(n, 1.0)) / std::log(3.0)) + 1;
  };
  const double rounds = detail::rounds_left(sweep, share);
  auto first = static_cast<double>(rung.size());
  while (first > 1 && first * rungs_of(first) > rounds) --first;
  rung.resize(std::max<std::size_t>(1, static_cast<std::size_t>(first)));
  for (std::size_t repeats = 1;; repeats *= eta) {
    for (std::size_t r = 0; r < repeats; ++r) {
      if (!detail::run_pass(sweep, rung, share)) return detail::take_off_standard_errors(sweep);
    }
    if (rung.size() < eta) return detail::take_off_standard_errors(sweep);
    std::erase_if(rung, [&](std::size_t trial) { return !sweep.score(trial); });
    std::sort(rung.begin(), rung.end(),
              [&](std::size_t a, std::size_t b) { return *sweep.score(a) > *sweep.score(b); });
    rung.resize(std::max<std::size_t>(1, rung.size() / eta));
  }
}

inline constexpr Strategy halving_strategy{.name = "halving", .run = search_halving};

}  // namespace feedrate::inline v0
