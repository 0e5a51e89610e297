// SPDX-License-Identifier: Apache-2.0
// A comparison of reports as one JSON document, in the shape of results/comparison.schema.json.
#pragma once

#include <optional>
#include <string>

#include "feedrate/report/comparison/comparison_notes.hpp"
#include "feedrate/report/json/choice_json.hpp"

namespace feedrate::inline v0 {
namespace detail {

inline Json interval_or_null(const std::optional<Interval>& interval) {
  return interval ? to_json(*interval) : Json(nullptr);
}

inline Json compared_json(const NamedReport& one) {
  const Report& report = one.report;
  const Trial* trial = recommended_trial(report);
  Json json = {{"file", one.file},
               {"schema_version", one.schema_version},
               {"config", trial ? to_json(trial->config) : Json(nullptr)},
               {"samples_per_s", interval_or_null(metric_of(report, "samples_per_s"))},
               {"fed", interval_or_null(metric_of(report, "fed"))},
               {"busy", interval_or_null(metric_of(report, "busy"))},
               {"speedup", interval_or_null(metric_of(report, "speedup"))},
               {"fingerprint", report.machine.fingerprint},
               {"cpu_model", report.machine.cpu_model},
               {"device", report.device},
               {"commit", report.tool.commit},
               {"started_at", report.tool.started_at}};
  for (const Measure& measure : measures) {
    json["measures"][std::string(measure.name)] = or_null(measure.value(report));
  }
  return json;
}

inline Json ranking_json(const Ranking& ranking) {
  Json json = {{"measure", ranking.measure.name}, {"median", ranking.median}};
  json["reports"] = json_array(ranking.deviations, [](const Deviation& one) -> Json {
    return {{"report", one.report},
            {"value", one.value},
            {"modified_z", one.z},
            {"relative_difference", one.off},
            {"outlier", one.outlier}};
  });
  return json;
}

}  // namespace detail

/// Reports are told by their places in `reports`.
inline Json to_json(const ReportComparison& comparison) {
  Json json = {{"schema_version", 1}};
  json["reports"] = detail::json_array(comparison.reports, detail::compared_json);
  json["differences"] =
      detail::json_array(comparison.differences, [](const Difference& one) -> Json {
        return {{"key", one.key}, {"values", one.values}};
      });
  json["ratio"] = detail::interval_or_null(comparison.ratio);
  json["rankings"] = detail::json_array(comparison.rankings, detail::ranking_json);
  json["not_ranked"] = detail::or_null(not_ranked_sentence(comparison));
  json["results"] = result_sentences(comparison);
  json["notes"] = comparison_notes(comparison);
  return json;
}

}  // namespace feedrate::inline v0
