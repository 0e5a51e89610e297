// SPDX-License-Identifier: Apache-2.0
// Taking back what is recommended, where fresh processes deny it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "feedrate/tune/outcome.hpp"

namespace feedrate {

/// The choice is denied: each tier that has it goes back to the reference. Recommended is then what
/// the widest narrower tier has, if that is another trial, which nobody has denied yet.
///
/// Gains of causes that were measured beside it are no longer known, and where nothing else stands
/// their remedy goes, too. Needs a tier.
inline void take_back_choice(Outcome& outcome) {
  const std::size_t denied = outcome.choice().trial;
  for (TierChoice& choice : outcome.tiers) {
    if (choice.trial != denied) continue;
    choice = {.tier = choice.tier,
              .standing = Standing::not_confirmed,
              .trial = outcome.reference,
              .tie_set = {outcome.reference},
              .open_gain = std::numeric_limits<double>::infinity(),
              .caveats = {}};
  }
  const auto stands =
      std::find_if(outcome.tiers.rbegin(), outcome.tiers.rend(), [&](const TierChoice& choice) {
        return choice.tier <= outcome.headline && choice.trial != outcome.reference;
      });
  if (stands != outcome.tiers.rend()) outcome.headline = stands->tier;
  outcome.verified.reset();
  outcome.verified_rounds = 0;
  for (Diagnosis& diagnosis : outcome.diagnoses) {
    if (!diagnosis.measured) continue;
    diagnosis.gain.reset();
    if (stands != outcome.tiers.rend()) continue;
    diagnosis.remedy = "What was to mend that gained nothing in fresh processes.";
    diagnosis.measured = false;
  }
}

}  // namespace feedrate
