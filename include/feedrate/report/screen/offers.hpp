// SPDX-License-Identifier: Apache-2.0
// Offers: wider tiers with their gain and price, and gains that were not proved.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/text/cause_words.hpp"
#include "feedrate/report/text/choice_text.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {

namespace detail {

/// What a choice of a wider tier changes beside the speed.
inline std::string_view changed_by(Tier tier) {
  if (tier == Tier::training) return "convergence";
  return tier == Tier::numerics ? "rounding" : "what workers inherit of the script's process";
}

/// "Offer: 1.21x (1.13 to 1.28) with batch 256, which changes convergence."
inline std::string offer_text(const TierChoice& choice, const std::string& settings) {
  return "Offer: " + speedup_text(choice.speedup) + " with " + settings + ", which changes " +
         std::string(changed_by(choice.tier)) + ".";
}

}  // namespace detail

/// A sentence for each choice of a tier beyond the headline that is faster than the reference, and
/// may be faster than what is recommended, and for each config that is probably faster; with what
/// they change of the recommendation; the first, or all. Needs a tier.
inline std::vector<std::string> offer_lines(const Outcome& outcome, bool all = true) {
  std::vector<std::size_t> told = {outcome.choice().trial};
  std::vector<std::string> lines;
  const auto is_new = [&](std::size_t trial) {
    if (std::find(told.begin(), told.end(), trial) != told.end()) return false;
    told.push_back(trial);
    return true;
  };
  const auto change = [&](std::size_t trial) {
    return cause_words::settings(outcome.recommended().config, outcome.trials[trial].config);
  };
  for (const TierChoice& choice : outcome.tiers) {
    const bool may_be_faster = std::isfinite(choice.speedup.high) &&
                               choice.speedup.high > outcome.choice().speedup.estimate;
    if (choice.tier > outcome.headline && choice.trial != outcome.reference && may_be_faster &&
        is_new(choice.trial)) {
      lines.push_back(detail::offer_text(choice, change(choice.trial)));
    }
    const bool seems_faster = choice.promising && choice.promise.estimate > 1;
    if (seems_faster && is_new(*choice.promising)) {
      lines.push_back("Probably faster, not significant: " + detail::speedup_text(choice.promise) +
                      " with " + change(*choice.promising) + ".");
    }
  }
  if (!all && !lines.empty()) lines.resize(1);
  return lines;
}

}  // namespace feedrate::inline v0
