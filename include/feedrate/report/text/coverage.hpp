// SPDX-License-Identifier: Apache-2.0
// What a search has covered, in words: how much was measured, what was left out and why.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "feedrate/report/report.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate {
namespace detail {

/// "1 config", "12 configs".
inline std::string counted(std::size_t count, const std::string& what) {
  return format_count(count) + " " + what + (count == 1 ? "" : "s");
}

inline std::size_t count_of(const Outcome& outcome, TrialStatus status) {
  return static_cast<std::size_t>(
      std::count_if(outcome.trials.begin(), outcome.trials.end(),
                    [&](const Trial& trial) { return trial.status == status; }));
}

/// "12 of 240 configs were measured, in 60 rounds."
inline std::string searched(const Outcome& outcome) {
  const bool model = outcome.search == Search::model;
  const std::size_t measured = count_of(outcome, TrialStatus::measured);
  return format_count(measured) + " of " + counted(outcome.trials.size(), "config") +
         (measured == 1 ? " was" : " were") + " measured, in " +
         counted(static_cast<std::size_t>(outcome.rounds), "round") +
         (model ? "."
                : ", search " +
                      std::string(search_names[static_cast<std::size_t>(outcome.search)]) + ".");
}

/// "pinned on: not applicable, WHY"; the values that one reason leaves out stand together.
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
    lines.push_back(value.axis + " " + all + ": not applicable, " + value.why);
  }
  return lines;
}

}  // namespace detail

/// Sentences for the screen, the most important first.
inline std::vector<std::string> coverage_lines(const Report& report) {
  const Outcome& outcome = report.outcome;
  std::vector<std::string> lines = {detail::searched(outcome)};
  if (const ModelError error = model_error(outcome); error.trials > 0) {
    const std::string within = format_percent(error.median);
    lines.push_back(error.trials == 1
                        ? "Its rate was predicted within " + within + "."
                        : "Their rates were predicted within " + within + " in the median.");
  }
  const double wall_s = report.tool.wall_s;
  if (!outcome.interrupted && wall_s > 0 && wall_s < 0.9 * report.budget_s) {
    lines.push_back("Ended after " + format_duration(wall_s) + " of " +
                    format_duration(report.budget_s) + ": more rounds promised too little.");
  }
  const std::string all = " of " + detail::counted(outcome.trials.size(), "config");
  const auto tell = [&](TrialStatus status, const std::string& one, const std::string& more,
                        const std::string& what) {
    const std::size_t count = detail::count_of(outcome, status);
    if (count > 0) lines.push_back(format_count(count) + all + (count == 1 ? one : more) + what);
  };
  tell(TrialStatus::infeasible, " needs", " need", " more memory than allowed, or than there is.");
  tell(TrialStatus::failed, "", "", " failed; the report says why.");
  tell(TrialStatus::not_reached, " was", " were",
       outcome.interrupted ? " not reached before the interruption."
                           : " not reached within the budget.");
  for (const std::string& line : detail::left_out(outcome.not_applicable)) lines.push_back(line);
  if (!report.skips.empty()) {
    lines.push_back(detail::counted(report.skips.size(), "unreadable sample") + " skipped.");
  }
  return lines;
}

}  // namespace feedrate
