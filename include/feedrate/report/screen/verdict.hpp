// SPDX-License-Identifier: Apache-2.0
// The verdict: what to set, how much faster that is, how sure it is, and what it requires.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "feedrate/report/report.hpp"
#include "feedrate/report/screen/screen_options.hpp"
#include "feedrate/report/text/cause_words.hpp"
#include "feedrate/report/text/caveats.hpp"
#include "feedrate/report/text/choice_text.hpp"
#include "feedrate/report/text/script_text.hpp"
#include "feedrate/report/text/words.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// "1.90x as fast as now (95 % interval 1.80 to 2.00, 12 new pairs of rounds)."
inline std::string gain_sentence(const Outcome& outcome) {
  const Interval& speedup = outcome.verified ? *outcome.verified : outcome.choice().speedup;
  if (!std::isfinite(speedup.high)) return "The present settings did not run, so no gain is known.";
  std::string text = format_number(speedup.estimate) + "x as fast as now";
  text += " (95 % interval " + format_number(speedup.low) + " to " + format_number(speedup.high);
  const auto pairs = static_cast<std::size_t>(outcome.verified_rounds);
  if (outcome.verified && pairs > 0) text += ", " + counted(pairs, "new pair") + " of rounds";
  return text + ").";
}

/// "workers 2, prefetch 4 (keep batch 32)": what to change, and of what varied, what to keep.
inline std::string settings_line(const Outcome& outcome, const ScreenOptions& options) {
  const Config& now = outcome.trials[outcome.reference].config;
  const Config& then = outcome.recommended().config;
  const std::string all = config_text(outcome, then);
  if (all.empty()) return "nothing: only one config was tried";
  const std::string change = cause_words::settings(now, then);
  if (change.empty()) return options.bold("nothing: keep " + all);
  const std::string kept = config_text(outcome, then, &now);
  return options.bold(change) + (kept.empty() ? "" : " (keep " + kept + ")");
}

inline std::string sentence(std::string phrase) {
  if (!phrase.empty() && phrase[0] >= 'a' && phrase[0] <= 'z') phrase[0] -= 'a' - 'A';
  return phrase + ".";
}

inline std::string nothing_compared(const Outcome& outcome) {
  return std::string("no other config was measured: ") +
         (outcome.interrupted ? "the run was interrupted" : "raise --budget");
}

}  // namespace detail

/// The lines of the verdict, the settings first. Needs a tier.
inline std::vector<std::string> verdict_lines(const Report& report, const ScreenOptions& options) {
  const Outcome& outcome = report.outcome;
  const TierChoice& choice = outcome.choice();
  const bool keeps = choice.trial == outcome.reference;
  std::vector<std::string> lines = {detail::settings_line(outcome, options)};
  if (!keeps) lines.push_back(detail::gain_sentence(outcome));
  lines.push_back(detail::sentence(is_alone(outcome) ? detail::nothing_compared(outcome)
                                                     : describe(choice, report.objective)));
  for (const std::string& caveat : caveats_of(report, choice)) {
    lines.push_back(detail::sentence(caveat));
  }
  if (report.confirmation) {
    lines.push_back(detail::confirmation_text(outcome, *report.confirmation));
  }
  return lines;
}

}  // namespace feedrate::inline v0
