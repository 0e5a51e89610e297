// SPDX-License-Identifier: Apache-2.0
// Confirms a recommendation: pairs of fresh launches of the script, unchanged and as recommended.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "feedrate/measure/round.hpp"
#include "feedrate/report/script.hpp"

namespace feedrate {

/// The plan of a confirmation, fixed before the first launch. With one more pair after each bad
/// one, a gain of nothing was confirmed in 6 of 10 runs.
struct ConfirmPlan {
  double seconds = 2;  ///< of measuring in each launch, after its start
  int pairs = confirmation_pairs;
  /// Whether as many pairs again follow where the first ones are inconclusive, in either direction.
  /// The levels of the two looks add up to 5 % (Bonferroni).
  bool looks_twice = false;
  double limit_s = 60;  ///< for the first pairs; the smallest number runs even if it takes longer
  std::uint64_t seed = 0;  ///< draws which config the first pair launches first
};

/// The plan for a script that starts in `start_s`, in a run with this budget that found this gain.
/// All pairs, if they fit into the budget or 60 s, whichever is longer; else as many as fit, and at
/// least 3. 3 are enough for a gain of 1.5x or more, and 2 are the least for one of 6x or more:
/// where launches scatter by 5 %, they confirm it in more than 99 % of runs. Where they don't,
/// launches scatter more, and there is a second look, if it takes at most twice that time.
ConfirmPlan plan_confirmation(double start_s, double budget_s, double gain, std::uint64_t seed);

/// For each pair, whether the recommended config is launched first: ABBA blocks, and every other
/// block mirrored. So a steady drift cancels in 4 pairs. The seed draws A.
std::vector<bool> launch_order(int pairs, std::uint64_t seed);

/// What one fresh launch of a config showed.
struct FreshRound {
  Round round;
  LaunchedGpu gpu = {};
};
using FreshLaunch = std::function<FreshRound(const Config&)>;

/// Launches both configs in turn. If they are equal, the script is launched once. A failed launch
/// ends the confirmation and becomes its `failure`. Errors that are no TrialError pass through.
Confirmation confirm(const FreshLaunch& launch, const Config& as_is, const Config& recommended,
                     const ConfirmPlan& plan);

}  // namespace feedrate
