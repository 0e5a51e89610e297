// SPDX-License-Identifier: Apache-2.0
// The report as one JSON document, in the shape of results/report.schema.json.
#pragma once

#include <cmath>
#include <string>

#include "feedrate/report/machine_json.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/report/trial_json.hpp"

namespace feedrate {
namespace detail {

/// Makes an array of what `make(item)` returns.
template <class Items, class Make>
Json json_array(const Items& items, Make&& make) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(make(item));
  return array;
}

inline Json tool_json(const ToolInfo& tool) {
  return {{"name", "feedrate"},    {"version", tool.version},
          {"commit", tool.commit}, {"command_line", tool.command_line},
          {"seed", tool.seed},     {"started_at", tool.started_at},
          {"wall_s", tool.wall_s}};
}

inline Json workload_json(const WorkloadInfo& workload) {
  Json json = {{"name", workload.name},
               {"kind", workload.kind},
               {"rate_source", "loader"},
               {"measured_with", "feedrate"},
               {"dataset", workload.dataset},
               {"path", or_null(workload.path)},
               {"model", workload.model},
               {"samples", workload.samples},
               {"sample_bytes", workload.sample_bytes},
               {"model_flops_per_sample", workload.flops_per_sample},
               {"cache", workload.cache == CacheMode::warm ? "warm" : "cold"},
               {"cached_samples", workload.cached_samples}};
  json["load_parts"] = json_array(workload.parts, [](const LoadPart& part) -> Json {
    return {{"name", part.name}, {"seconds_per_sample", part.seconds_per_sample}};
  });
  return json;
}

inline Json space_json(const Report& report) {
  const Space& space = report.space;
  Json axes = {{"workers", space.workers},
               {"prefetch", space.prefetch},
               {"pinned", space.pinned},
               {"step_threads", space.step_threads}};
  axes["precision"] = json_array(space.precision, [](Precision p) -> Json { return name_of(p); });
  axes["batch"] = space.batch;
  Json json = {{"axes", axes}, {"workers_may_grow", space.workers_may_grow}};
  json["allowed"] = json_array(
      report.allowed, [](Tier tier) -> Json { return tier_names[static_cast<std::size_t>(tier)]; });
  json["objective"] = objective_names[static_cast<std::size_t>(report.objective)];
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

inline Json race_json(const Outcome& outcome) {
  Json json = {{"passes", outcome.passes},
               {"noise", outcome.noise},
               {"stopped_because", outcome.stopped_because}};
  json["pairs"] = json_array(outcome.pairs, [](const Pair& pair) -> Json {
    return {{"a", pair.a},
            {"b", pair.b},
            {"log_ratio", to_json(pair.log_ratio)},
            {"verdict", name_of(pair.verdict)},
            {"rounds", pair.rounds}};
  });
  return json;
}

inline Json tier_json(const Outcome& outcome, const TierChoice& choice) {
  return {{"standing", name_of(choice.standing)},
          {"config", to_json(outcome.trials[choice.trial].config)},
          {"trial", choice.trial},
          {"speedup", to_json(choice.speedup)},
          {"tie_set", choice.tie_set}};
}

inline Json recommendation_json(const Outcome& outcome) {
  if (outcome.tiers.empty()) return nullptr;
  Json tiers = Json::object();
  for (const TierChoice& choice : outcome.tiers) {
    const auto name = tier_names[static_cast<std::size_t>(choice.tier)];
    tiers[std::string(name)] = tier_json(outcome, choice);
  }
  return {{"status", name_of(outcome.choice().standing)},
          {"config", to_json(outcome.recommended().config)},
          {"trial", outcome.choice().trial},
          {"tiers", tiers},
          {"verified", outcome.verified ? to_json(*outcome.verified) : Json(nullptr)},
          {"verified_rounds", outcome.verified_rounds}};
}

inline Json diagnoses_json(const Outcome& outcome) {
  return json_array(outcome.diagnoses, [](const Diagnosis& diagnosis) -> Json {
    return {{"cause", diagnosis.cause},
            {"share_of_gap", diagnosis.share_of_gap},
            {"evidence", diagnosis.evidence},
            {"remedy", diagnosis.remedy},
            {"gain", or_null(diagnosis.gain)},
            {"how", diagnosis.gain ? Json("measured") : Json(nullptr)}};
  });
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
  json["race"] = detail::race_json(outcome);
  json["reference"] = {{"config", to_json(outcome.trials[outcome.reference].config)},
                       {"source", "framework_default"},
                       {"trial", outcome.reference}};
  json["best_device"] = detail::best_device_json(outcome.best_device);
  json["recommendation"] = detail::recommendation_json(outcome);
  json["diagnoses"] = detail::diagnoses_json(outcome);
  json["unexplained_share"] = outcome.unexplained_share;
  json["skipped"] = detail::json_array(report.skips, [](const Skip& skip) -> Json {
    return {{"sample", skip.sample}, {"name", skip.name}, {"reason", skip.reason}};
  });
  json["settings"] = detail::json_array(report.settings, [](const Setting& setting) -> Json {
    return {{"framework", setting.framework},
            {"text", setting.text},
            {"measured_with", setting.measured_with}};
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

}  // namespace feedrate
