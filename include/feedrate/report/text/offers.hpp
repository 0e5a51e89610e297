// SPDX-License-Identifier: Apache-2.0
// What is not recommended, and worth knowing: wider tiers at their price, and what was not shown.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "feedrate/report/text/choice_text.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate {

/// A sentence for each wider choice that is shown to be faster and is not recommended, and for each
/// config that looked faster and was not shown to be. Needs a tier.
inline std::vector<std::string> offer_lines(const Outcome& outcome) {
  std::vector<std::size_t> told = {outcome.choice().trial};
  std::vector<std::string> lines;
  const auto tell = [&](std::size_t trial, const std::string& text) {
    if (std::find(told.begin(), told.end(), trial) != told.end()) return;
    told.push_back(trial);
    lines.push_back(text + ": " + detail::config_text(outcome, outcome.trials[trial].config) + ".");
  };
  for (const TierChoice& choice : outcome.tiers) {
    if (choice.trial != outcome.reference) {
      tell(choice.trial, "offer, " + detail::speedup_text(choice.speedup) + ", which changes " +
                             (choice.tier == Tier::training ? "convergence" : "rounding"));
    }
    if (choice.promising) {
      tell(*choice.promising, "looked like " + detail::speedup_text(choice.promise) +
                                  ", and was not shown to be faster");
    }
  }
  return lines;
}

}  // namespace feedrate
