// SPDX-License-Identifier: Apache-2.0
// A gate as one JSON document, in the shape of results/gate.schema.json.
#pragma once

#include <string>

#include "feedrate/report/gate/gate.hpp"
#include "feedrate/report/json/json.hpp"
#include "feedrate/report/json/requirement_json.hpp"

namespace feedrate::inline v0 {
namespace detail {

inline Json conclusion_json(const std::optional<Conclusion>& conclusion) {
  return conclusion ? Json(name_of(*conclusion)) : Json(nullptr);
}

}  // namespace detail

/// `value` and `base` are in the metric's unit.
inline Json to_json(const GateMetric& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"higher_is_better", metric.higher_is_better},
          {"value", detail::bounds_json(metric.value)},
          {"base", detail::bounds_json(metric.base)},
          {"speed_ratio", detail::bounds_json(metric.speed_ratio)},
          {"conclusion", detail::conclusion_json(metric.conclusion)},
          {"reason", detail::or_null(metric.reason)}};
}

inline Json to_json(const GateRun& run) {
  return {{"side", run.side},
          {"block", run.block},
          {"others_share", run.others_share < 0 ? Json(nullptr) : Json(run.others_share)},
          {"values", run.values}};
}

/// The document. What is unknown is null.
inline Json to_json(const Gate& gate) {
  Json json = {
      {"schema_version", Gate::schema_version},
      {"tool", detail::tool_json(gate.tool)},
      {"machine", to_json(gate.machine)},
      {"verb", gate.verb},
      {"subject", gate.subject},
      {"conclusion", name_of(gate.conclusion())},
      {"overruled", detail::conclusion_json(gate.overruled)},
      {"limits",
       {{"max_loss_share", gate.limits.max}, {"tolerated_loss_share", gate.limits.tolerated}}}};
  json["metrics"] =
      detail::json_array(gate.metrics, [](const GateMetric& metric) { return to_json(metric); });
  json["requirements"] = detail::json_array(
      gate.requirements, [](const GateRequirement& requirement) { return to_json(requirement); });
  json["runs"] = detail::json_array(gate.runs, [](const GateRun& run) { return to_json(run); });
  json["notes"] = gate.notes;
  return json;
}

}  // namespace feedrate::inline v0
