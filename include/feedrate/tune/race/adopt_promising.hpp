// SPDX-License-Identifier: Apache-2.0
// Recommends what only seemed faster, where another proof than that of the rounds will follow.
#pragma once

#include <cstddef>

#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {

/// Recommends the trial that the narrowest tier found promising, where nothing was proven and it
/// seemed to gain at least `least`, such as 1.05. False where there is none. Needs a tier.
///
/// To be called only where new measurements decide whether it stays: until then it is a guess.
inline bool adopt_promising(Outcome& outcome, double least) {
  const TierChoice& narrowest = outcome.tiers.front();
  if (outcome.choice().trial != outcome.reference || !narrowest.promising) return false;
  if (narrowest.promise.estimate < least) return false;
  TierChoice adopted = narrowest;
  adopted.standing = Confidence::unresolved;
  adopted.trial = *narrowest.promising;
  adopted.speedup = narrowest.promise;
  adopted.tie_set = {adopted.trial};
  adopted.promising.reset();
  outcome.tiers.front() = adopted;
  outcome.headline = adopted.tier;
  return true;
}

}  // namespace feedrate::inline v0
