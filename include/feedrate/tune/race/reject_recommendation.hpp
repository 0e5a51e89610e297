// SPDX-License-Identifier: Apache-2.0
// Withdraws a recommendation that fresh processes do not confirm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {

/// Withdraws the recommended trial: each tier that chose it returns to the reference. Then the
/// widest narrower tier whose choice is worth its price gives the recommendation, else none.
///
/// Measured gains of causes are dropped. Without another recommendation their remedies are
/// rejected. Needs a tier.
inline void reject_recommendation(Outcome& outcome) {
  const std::size_t rejected = outcome.choice().trial;
  for (TierChoice& choice : outcome.tiers) {
    if (choice.trial != rejected) continue;
    choice = {.tier = choice.tier,
              .standing = Confidence::not_confirmed,
              .trial = outcome.reference,
              .tie_set = {outcome.reference},
              .gain_upper_bound = std::numeric_limits<double>::infinity()};
  }
  const auto stands =
      std::find_if(outcome.tiers.rbegin(), outcome.tiers.rend(), [&](const TierChoice& choice) {
        return choice.tier <= outcome.headline && choice.is_worth_its_price &&
               choice.trial != outcome.reference;
      });
  TierChoice& narrowest = outcome.tiers.front();
  outcome.headline = stands != outcome.tiers.rend() ? stands->tier : narrowest.tier;
  if (outcome.choice().trial == outcome.reference) narrowest.standing = Confidence::not_confirmed;
  outcome.verified.reset();
  outcome.verified_rounds = 0;
  for (Diagnosis& diagnosis : outcome.diagnoses) {
    if (!diagnosis.measured) continue;
    diagnosis.gain.reset();
    if (stands != outcome.tiers.rend()) continue;
    diagnosis.rejected = true;
    diagnosis.measured = false;
  }
}

}  // namespace feedrate::inline v0
