// SPDX-License-Identifier: Apache-2.0
// The verdict on two configs, from the log ratios of paired rounds.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

/// What can be said of one config against another.
enum class Verdict : std::uint8_t { faster, slower, same, unresolved };

constexpr std::string_view name_of(Verdict verdict) noexcept {
  constexpr std::array<std::string_view, 4> names = {"faster", "slower", "same", "unresolved"};
  return names[static_cast<std::size_t>(verdict)];
}

/// So often a verdict on one pair may be asked for while rounds are added. Asked for after every
/// round instead, verdicts raised 38 % false alarms in simulation.
inline constexpr int most_looks = 3;

/// How verdicts are reached.
struct VerdictOptions {
  double alpha = 0.02;       ///< chance of any wrong "faster" or "slower" in the whole race
  int rivals = 1;            ///< comparisons in the race
  double resolution = 0.01;  ///< differences below this are no differences; at least 1 %

  /// The chance left to one look at one pair. Source: Bonferroni's inequality.
  double alpha_per_look() const noexcept { return alpha / (std::max(rivals, 1) * most_looks); }
};

/// The verdict on A against B from log(rate A / rate B) of each pair of rounds.
inline Verdict verdict_on(std::span<const double> log_ratios, const VerdictOptions& options) {
  if (log_ratios.size() < 2) return Verdict::unresolved;
  const Interval interval = mean_interval(log_ratios, options.alpha_per_look());
  const double same = std::log1p(std::max(options.resolution, 0.01));
  if (interval.low > -same && interval.high < same) return Verdict::same;
  if (interval.low > 0) return Verdict::faster;
  if (interval.high < 0) return Verdict::slower;
  return Verdict::unresolved;
}

}  // namespace feedrate::inline v0
