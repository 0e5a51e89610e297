// SPDX-License-Identifier: Apache-2.0
// The report as one JSON document, in the shape of results/report.schema.json.
#pragma once

#include <cmath>
#include <string>

#include "feedrate/report/json/choice_json.hpp"
#include "feedrate/report/json/diagnoses_json.hpp"
#include "feedrate/report/json/emulation_json.hpp"
#include "feedrate/report/json/gpu_ceilings_json.hpp"
#include "feedrate/report/json/machine_json.hpp"
#include "feedrate/report/json/model_json.hpp"
#include "feedrate/report/json/requirement_json.hpp"
#include "feedrate/report/json/script_json.hpp"
#include "feedrate/report/json/trial_json.hpp"
#include "feedrate/report/json/what_if_json.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/report/text/price_text.hpp"

namespace feedrate::inline v0 {
namespace detail {

inline Json tool_json(const ToolInfo& tool) {
  return {{"name", "feedrate"},    {"version", tool.version},
          {"commit", tool.commit}, {"command_line", tool.command_line},
          {"seed", tool.seed},     {"started_at", tool.started_at},
          {"wall_s", tool.wall_s}};
}

/// Whose loader the rates are of.
inline std::string measured_with(const WorkloadInfo& workload) {
  return workload.rate_source == "loader" ? "feedrate"
         : workload.script                ? "PyTorch's DataLoader"
                                          : workload.name;
}

inline Json workload_json(const WorkloadInfo& workload) {
  Json json = {{"name", workload.name},
               {"kind", workload.kind},
               {"rate_source", workload.rate_source},
               {"measured_with", measured_with(workload)},
               {"dataset", workload.dataset},
               {"path", or_null(workload.path)},
               {"model", workload.model},
               {"samples", workload.samples},
               {"sample_bytes", workload.sample_bytes},
               {"model_flops_per_sample", workload.flops_per_sample},
               {"cache", workload.cache == CacheMode::warm ? "warm" : "cold"},
               {"cached_samples", workload.cached_samples}};
  json["gpu_ceilings"] = to_json(workload.gpu_ceilings);
  json["script"] = workload.script ? to_json(*workload.script) : Json(nullptr);
  json["load_parts"] = Json::array();
  for (const auto& [name, seconds] : load_parts) {
    if (!workload.load) break;
    json["load_parts"].push_back(
        {{"name", name}, {"seconds_per_sample", (*workload.load).*seconds}});
  }
  return json;
}

/// Where the reference comes from.
inline std::string reference_source(const Report& report) {
  return report.workload.script ? "script" : report.reference_given ? "given" : "framework_default";
}

/// What the user did not say is null.
inline Json constraints_json(const Constraints& constraints) {
  const auto or_null = [](const auto& most) { return most ? Json(*most) : Json(nullptr); };
  return {{"max_memory_bytes", or_null(constraints.max_memory_bytes)},
          {"max_device_memory_bytes", or_null(constraints.max_device_memory_bytes)},
          {"max_workers", or_null(constraints.max_workers)},
          {"max_batch", or_null(constraints.max_batch)},
          {"effective_batch", or_null(constraints.effective_batch)}};
}

inline Json space_json(const Report& report) {
  const Space& space = report.space;
  Json axes;
  for_each_axis_of(space, [&]<class T>(const Axis<T>& axis, const std::vector<T>& values) {
    axes[std::string(axis.name)] = json_array(values, [](T value) { return value_json(value); });
  });
  Json json = {{"axes", axes},
               {"workers_may_grow", space.workers_may_grow},
               {"constraints", constraints_json(report.constraints)}};
  json["allowed"] = json_array(
      report.allowed, [](Tier tier) -> Json { return tier_names[static_cast<std::size_t>(tier)]; });
  json["objective"] = report.objective;
  json["budget_s"] = report.budget_s;
  json["not_applicable"] =
      json_array(report.outcome.not_applicable, [](const NotApplicable& value) -> Json {
        return {{"axis", value.axis}, {"value", value.value}, {"why", value.why}};
      });
  json["not_reached"] = json_array(report.outcome.trials, [](const Trial& trial) -> Json {
    return trial.status == TrialStatus::not_reached ? to_json(trial.config) : Json(nullptr);
  });
  std::erase(json["not_reached"].get_ref<Json::array_t&>(), Json(nullptr));
  return json;
}

/// Null without a price.
inline Json price_json(const Report& report) {
  if (!report.price) return nullptr;
  const WaitingCosts costs = waiting_costs(report);
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"per_hour", report.price->per_hour},
          {"currency", report.price->currency},
          {"waiting_per_day", or_null(costs.per_day)},
          {"waiting_per_epoch", or_null(costs.per_epoch)},
          {"saved_per_day", or_null(costs.saved_per_day)}};
}

inline Json best_device_json(const DeviceCeiling& best) {
  if (best.samples_per_s <= 0) return nullptr;
  return {{"config", to_json(best.config)}, {"samples_per_s", best.samples_per_s}};
}

}  // namespace detail

/// The document. What is unknown is null; text that is not UTF-8 is repaired by the writer.
inline Json to_json(const Report& report) {
  const Outcome& outcome = report.outcome;
  Json json = {{"schema_version", Report::schema_version},
               {"tool", detail::tool_json(report.tool)},
               {"machine", to_json(report.machine)}};
  json["card"] = report.card ? to_json(*report.card) : Json(nullptr);
  json["device"] = report.device;
  json["workload"] = detail::workload_json(report.workload);
  json["space"] = detail::space_json(report);
  json["trials"] = detail::json_array(outcome.trials,
                                      [&](const Trial& trial) { return to_json(report, trial); });
  json["search"] = search_json(outcome);
  json["probes"] =
      detail::json_array(outcome.probes, [](const Probe& probe) { return to_json(probe); });
  json["disturbed"] =
      detail::json_array(outcome.disturbed, [](const Probe& probe) { return to_json(probe); });
  json["demands"] = to_json(outcome.demands);
  json["race"] = detail::race_json(outcome);
  json["reference"] = {{"config", to_json(outcome.trials[outcome.reference].config)},
                       {"source", detail::reference_source(report)},
                       {"trial", outcome.reference}};
  json["best_device"] = detail::best_device_json(outcome.best_device);
  json["recommendation"] = detail::recommendation_json(report);
  json["pareto"] = detail::pareto_json(outcome);
  json["what_if"] = what_if_json(outcome);
  json["emulation"] =
      report.accelerator ? to_json(emulation_of(outcome, *report.accelerator)) : Json(nullptr);
  json["diagnoses"] = diagnoses_json(report);
  json["unexplained_share"] = outcome.unexplained_share;
  json["skipped"] = detail::json_array(report.skips, [](const Skip& skip) -> Json {
    return {{"sample", skip.sample}, {"name", skip.name}, {"reason", skip.reason}};
  });
  json["price"] = detail::price_json(report);
  json["confirmation"] = report.confirmation ? to_json(*report.confirmation) : Json(nullptr);
  json["touched_files"] = report.touched_files;
  json["notes"] = report.notes;
  json["warnings"] = report.warnings;
  json["requirements"] = detail::json_array(
      report.requirements, [](const GateRequirement& requirement) { return to_json(requirement); });
  json["settings"] = detail::json_array(report.settings, [](const Setting& setting) -> Json {
    return {{"framework", setting.framework},
            {"text", setting.text},
            {"measured_with", setting.measured_with},
            {"patch", detail::or_null(setting.patch)}};
  });
  json["next"] = detail::json_array(report.next, [](const NextStep& step) -> Json {
    return {{"command", step.command}, {"why", step.why}};
  });
  json["interrupted"] = outcome.interrupted;
  return json;
}

/// The document as text, with a newline at the end.
inline std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace feedrate::inline v0
