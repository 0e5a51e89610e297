// SPDX-License-Identifier: Apache-2.0
// The coverage of a search in words: how much was measured, what was left out and why.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "feedrate/report/report.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/shell.hpp"
#include "feedrate/report/text/words.hpp"

namespace feedrate::inline v0 {
namespace detail {

inline std::size_t count_of(const Outcome& outcome, TrialStatus status) {
  return static_cast<std::size_t>(
      std::count_if(outcome.trials.begin(), outcome.trials.end(),
                    [&](const Trial& trial) { return trial.status == status; }));
}

/// "3 of 240 configs"; empty where none has that status.
inline std::string share_of_configs(const Outcome& outcome, TrialStatus status) {
  const std::size_t count = count_of(outcome, status);
  if (count == 0) return {};
  return format_count(count) + " of " + counted(outcome.trials.size(), "config");
}

/// "12 of 240 configs measured in 60 rounds."
inline std::string searched(const Outcome& outcome) {
  const bool model = outcome.search == default_search;
  const std::size_t measured = count_of(outcome, TrialStatus::measured);
  return format_count(measured) + " of " + counted(outcome.trials.size(), "config") +
         " measured in " + counted(static_cast<std::size_t>(outcome.rounds), "round") +
         (model ? "." : ", search " + outcome.search + ".");
}

/// "pinned on: not applicable (WHY)."; the values that one reason leaves out stand together.
inline std::vector<std::string> left_out(const std::vector<NotApplicable>& values) {
  std::vector<std::string> lines;
  std::vector<const NotApplicable*> said;
  for (const NotApplicable& value : values) {
    if (value.axis == "what_if") continue;  // stands below the table of what-ifs
    const auto alike = [&](const NotApplicable& other) {
      return other.axis == value.axis && other.why == value.why;
    };
    if (std::any_of(said.begin(), said.end(), [&](const auto* other) { return alike(*other); })) {
      continue;
    }
    said.push_back(&value);
    std::string all;
    for (const NotApplicable& other : values) {
      if (alike(other)) all += (all.empty() ? "" : ", ") + other.value;
    }
    const bool is_state = value.axis == "gpu";  // what the driver did not tell
    lines.push_back(value.axis + " " + all + (is_state ? ": unknown (" : ": not applicable (") +
                    value.why + ").");
  }
  return lines;
}

/// The sentence of all configs that failed; empty where they differ, or say much.
inline std::string shared_failure(const Outcome& outcome) {
  constexpr std::size_t longest = 300;
  std::string shared;
  for (const Trial& trial : outcome.trials) {
    if (trial.status != TrialStatus::failed) continue;
    if (shared.empty()) shared = trial.reason.error;
    if (trial.reason.error != shared) return {};
  }
  return shared.size() <= longest ? shared : std::string();
}

}  // namespace detail

/// Sentences for the screen, the most important first.
inline std::vector<std::string> coverage_lines(const Report& report) {
  const Outcome& outcome = report.outcome;
  std::vector<std::string> lines = {detail::searched(outcome)};
  if (const ModelError error = model_error(outcome); error.trials > 0) {
    lines.push_back("Median prediction error: " + format_percent(error.median) + ".");
  }
  const double wall_s = report.tool.wall_s;
  if (!outcome.interrupted && wall_s > 0 && wall_s < 0.9 * report.budget_s) {
    lines.push_back("Stopped after " + format_duration(wall_s) + " of " +
                    format_duration(report.budget_s) + ": nothing better is likely.");
  }
  const auto tell = [&](TrialStatus status, const std::string& what) {
    const std::string text = detail::share_of_configs(outcome, status);
    if (!text.empty()) lines.push_back(text + what);
  };
  tell(TrialStatus::infeasible, " skipped: more memory needed than allowed or available.");
  tell(TrialStatus::not_reached, outcome.interrupted ? " not measured: the run was interrupted."
                                                     : " not measured: the budget ended.");
  for (const std::string& line : detail::left_out(outcome.not_applicable)) lines.push_back(line);
  return lines;
}

/// What went wrong.
inline std::vector<std::string> warning_lines(const Report& report) {
  std::vector<std::string> lines;
  const std::string failed = detail::share_of_configs(report.outcome, TrialStatus::failed);
  const std::string why = detail::shared_failure(report.outcome);
  if (!failed.empty()) {
    lines.push_back(failed + (why.empty() ? " failed; the report says why." : " failed. " + why));
  }
  if (!report.skips.empty()) {
    lines.push_back(detail::counted(report.skips.size(), "unreadable sample") + " skipped.");
  }
  lines.insert(lines.end(), report.warnings.begin(), report.warnings.end());
  const auto& script = report.workload.script;
  if (script && script->waits_for_other()) {
    lines.push_back("The step waits for another DataLoader for " +
                    format_percent(script->other_share) + " of its time: --loader " +
                    shell_quoted(script->other_loader) + " tunes that one.");
  }
  return lines;
}

}  // namespace feedrate::inline v0
