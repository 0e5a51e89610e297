// SPDX-License-Identifier: Apache-2.0
// Reports side by side, as plain data: what differs in how they were measured, the ratio of two,
// and the outliers among many.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/report/comparison/measures.hpp"
#include "feedrate/report/comparison/outliers.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/report/text/words.hpp"

namespace feedrate::inline v0 {

/// A report and where it comes from.
struct NamedReport {
  std::string file;
  int schema_version = Report::schema_version;  ///< of the file
  Report report;
};

/// Something that must be the same for rates to be comparable, and is not.
struct Difference {
  std::string_view key;
  std::vector<std::string> values;  ///< of the reports, in their order
};

/// The values of one measure, the largest deviation first; reports that lack it are left out.
struct Ranking {
  Measure measure;
  double median = 0;
  std::vector<Deviation> deviations;
};

struct ReportComparison {
  std::vector<NamedReport> reports;
  std::vector<Difference> differences;
  std::optional<Interval> ratio;  ///< of two: rate of the second over that of the first, 95 %
  std::vector<Ranking> rankings;  ///< of three or more
};

namespace detail {

/// What must be the same, and how a report says it.
struct Condition {
  std::string_view key;
  std::string (*value)(const NamedReport&);
};

/// "cpu", "emulated:h100/resnet50" or "NVIDIA H100", also of a script's: not which of the GPUs of a
/// machine it was.
inline std::string device_model(const Report& report) {
  if (const auto& script = report.workload.script; script && !script->gpu.empty()) {
    return script->gpu;
  }
  const std::string text = device_text(report);
  return report.device.starts_with("cuda:") ? text.substr(0, text.rfind(" (")) : text;
}

inline std::string data_of(const WorkloadInfo& workload) {
  return workload.dataset + ", " + std::to_string(workload.samples) + " samples of " +
         std::to_string(workload.sample_bytes) + " bytes";
}

inline constexpr std::array<Condition, 7> conditions = {{
    {"workload", [](const NamedReport& r) { return r.report.workload.name; }},
    {"data", [](const NamedReport& r) { return data_of(r.report.workload); }},
    {"device", [](const NamedReport& r) { return device_model(r.report); }},
    {"cache",
     [](const NamedReport& r) {
       return std::string(r.report.workload.cache == CacheMode::warm ? "warm" : "cold");
     }},
    {"model", [](const NamedReport& r) { return r.report.workload.model; }},
    {"rate_source", [](const NamedReport& r) { return r.report.workload.rate_source; }},
    {"schema_version", [](const NamedReport& r) { return std::to_string(r.schema_version); }},
}};

inline std::vector<Difference> differences_of(const std::vector<NamedReport>& reports) {
  std::vector<Difference> found;
  for (const auto& [key, value] : conditions) {
    Difference difference{key, {}};
    for (const NamedReport& report : reports) difference.values.push_back(value(report));
    const auto& values = difference.values;
    const bool alike = std::all_of(values.begin(), values.end(),
                                   [&](const std::string& one) { return one == values.front(); });
    if (!alike) found.push_back(std::move(difference));
  }
  return found;
}

inline std::vector<double> log_rates(const Trial& trial) {
  std::vector<double> logs;
  for (const Round& round : trial.rounds) logs.push_back(std::log(round.samples_per_s()));
  return logs;
}

/// By the rounds of the recommended configs. Empty where one has no two rounds.
inline std::optional<Interval> ratio_of(const Report& base, const Report& head) {
  const Trial *before = recommended_trial(base), *after = recommended_trial(head);
  if (!before || !after || before->rounds.size() < 2 || after->rounds.size() < 2) {
    return std::nullopt;
  }
  const Interval log = mean_difference(log_rates(*after), log_rates(*before), 0.05);
  return Interval{std::exp(log.estimate), std::exp(log.low), std::exp(log.high)};
}

/// Needs three reports that have the measure.
inline std::optional<Ranking> ranking_of(const std::vector<NamedReport>& reports,
                                         const Measure& measure) {
  std::vector<double> values;
  std::vector<std::size_t> places;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    if (const auto value = measure.value(reports[r].report)) {
      values.push_back(*value);
      places.push_back(r);
    }
  }
  if (values.size() < 3) return std::nullopt;
  Ranking ranking{measure, median(values), {}};
  const std::vector<double> scores = modified_z_scores(values);
  for (std::size_t v = 0; v < values.size(); ++v) {
    ranking.deviations.push_back(deviation_of(places[v], values[v], ranking.median, scores[v]));
  }
  std::stable_sort(
      ranking.deviations.begin(), ranking.deviations.end(),
      [](const Deviation& a, const Deviation& b) { return std::abs(a.z) > std::abs(b.z); });
  return ranking;
}

}  // namespace detail

/// Of two reports or more. What was measured differently is not ranked.
inline ReportComparison comparison_of(std::vector<NamedReport> reports) {
  ReportComparison comparison;
  comparison.reports = std::move(reports);
  const auto& all = comparison.reports;
  comparison.differences = detail::differences_of(all);
  if (!comparison.differences.empty()) return comparison;
  if (all.size() == 2) comparison.ratio = detail::ratio_of(all[0].report, all[1].report);
  if (all.size() < 3) return comparison;
  for (const Measure& measure : measures) {
    if (auto ranking = detail::ranking_of(all, measure)) {
      comparison.rankings.push_back(*std::move(ranking));
    }
  }
  return comparison;
}

}  // namespace feedrate::inline v0
