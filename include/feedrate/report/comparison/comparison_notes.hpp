// SPDX-License-Identifier: Apache-2.0
// What a comparison says and does not say, in sentences.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/report/comparison/comparison.hpp"
#include "feedrate/report/text/clean_text.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate::inline v0 {

/// "Not ranked, because the reports were measured differently: cache (warm; cold)."; empty where
/// they were measured alike.
inline std::string not_ranked_sentence(const ReportComparison& comparison) {
  std::string keys;
  for (const auto& [key, values] : comparison.differences) {
    std::string listed;
    for (auto value = values.begin(); value != values.end(); ++value) {
      if (std::find(values.begin(), value, *value) != value) continue;
      listed += (listed.empty() ? "" : "; ") + *value;
    }
    keys += (keys.empty() ? "" : ", ") + std::string(key) + " (" + clean_text(listed) + ")";
  }
  if (keys.empty()) return {};
  return "Not ranked, because the reports were measured differently: " + keys + ".";
}

namespace detail {

inline std::string measure_text(const Measure& measure, double value) {
  if (measure.unit.empty()) return format_percent(value);
  if (measure.unit.ends_with("B/s") || measure.unit.ends_with("FLOP/s")) {
    return format_si(value, measure.unit);
  }
  return format_number(value) + " " + std::string(measure.unit);
}

/// "b.json: rate 812 samples/s, 34 % below the median of 1,230 samples/s (modified z-score -8.2)."
inline std::string outlier_sentence(const ReportComparison& comparison, const Ranking& ranking,
                                    const Deviation& deviation) {
  return clean_text(comparison.reports[deviation.report].file) + ": " +
         std::string(ranking.measure.words) + " " + measure_text(ranking.measure, deviation.value) +
         ", " + format_percent(std::abs(deviation.off)) +
         (deviation.off < 0 ? " below" : " above") + " the median of " +
         measure_text(ranking.measure, ranking.median) + " (modified z-score " +
         fixed(deviation.z, 1) + ").";
}

/// "b.json is 1.05x as fast as a.json (95 % interval 1.01 to 1.09, by the rounds of each run)."
inline std::string ratio_sentence(const ReportComparison& comparison) {
  const auto& reports = comparison.reports;
  const Interval& ratio = *comparison.ratio;
  return clean_text(reports[1].file) + " is " + format_number(ratio.estimate) + "x as fast as " +
         clean_text(reports[0].file) + " (95 % interval " + format_number(ratio.low) + " to " +
         format_number(ratio.high) + ", by the rounds of each run).";
}

/// Whether two reports are of one machine.
inline bool shares_machine(const std::vector<NamedReport>& reports) {
  std::set<std::string> machines;
  for (const NamedReport& one : reports) machines.insert(one.report.machine.fingerprint);
  return machines.size() < reports.size();
}

}  // namespace detail

/// The ratio of two, or the outliers of many, the largest deviation first.
inline std::vector<std::string> result_sentences(const ReportComparison& comparison) {
  std::vector<std::string> lines;
  if (comparison.ratio) lines.push_back(detail::ratio_sentence(comparison));
  std::vector<std::pair<double, std::string>> outliers;
  for (const Ranking& ranking : comparison.rankings) {
    for (const Deviation& deviation : ranking.deviations) {
      if (!deviation.outlier) continue;
      outliers.emplace_back(std::abs(deviation.z),
                            detail::outlier_sentence(comparison, ranking, deviation));
    }
  }
  std::stable_sort(outliers.begin(), outliers.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [z, line] : outliers) lines.push_back(line);
  if (!comparison.rankings.empty() && outliers.empty()) {
    lines.push_back("No outliers: no value differs from its median by more than " +
                    fixed(outlier_z, 1) + " modified z-scores and " +
                    format_percent(smallest_outlier) + ".");
  }
  return lines;
}

/// What limits the result.
inline std::vector<std::string> comparison_notes(const ReportComparison& comparison) {
  std::vector<std::string> notes;
  const auto& reports = comparison.reports;
  for (const auto& [file, version, report] : reports) {
    if (report.outcome.interrupted)
      notes.push_back(clean_text(file) + ": the run was interrupted.");
    if (report.outcome.tiers.empty()) notes.push_back(clean_text(file) + ": nothing was measured.");
  }
  if (!comparison.differences.empty()) return notes;
  if (detail::shares_machine(reports)) {
    notes.push_back(
        "Runs on one machine at different times: drift is not excluded; 'autotune ab' compares two "
        "commands in turn.");
  } else if (reports.size() == 2) {
    notes.push_back("Two machines: their difference is part of the ratio.");
  }
  return notes;
}

}  // namespace feedrate::inline v0
