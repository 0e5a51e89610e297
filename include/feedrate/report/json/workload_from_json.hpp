// SPDX-License-Identifier: Apache-2.0
// Reads from a report: the program that made it, what was trained on what, and the space.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "feedrate/report/json/gpu_ceilings_json.hpp"
#include "feedrate/report/json/script_json.hpp"
#include "feedrate/report/report.hpp"

namespace feedrate::inline v0 {

inline void from_json(const Json& json, ToolInfo& tool) {
  detail::read_all(json, "version", tool.version, "commit", tool.commit, "command_line",
                   tool.command_line, "seed", tool.seed, "started_at", tool.started_at, "wall_s",
                   tool.wall_s);
}

namespace detail {

/// What loading a sample costs, by the names of its parts; empty where it has none.
inline std::optional<LoadCosts> read_load_costs(const Json& parts) {
  LoadCosts costs;
  for (const Json& part : parts) {
    for (const auto& [name, seconds] : load_parts) {
      if (part.at("name") == name) read(part, "seconds_per_sample", costs.*seconds);
    }
  }
  return parts.empty() ? std::nullopt : std::optional(costs);
}

inline void read_cache(const Json& json, CacheMode& cache) {
  constexpr std::array<std::string_view, 2> modes = {"warm", "cold"};
  cache = static_cast<CacheMode>(index_of(modes, json));
}

}  // namespace detail

/// What a report has of it.
inline void from_json(const Json& json, WorkloadInfo& workload) {
  detail::read_all(json, "name", workload.name, "kind", workload.kind, "rate_source",
                   workload.rate_source, "dataset", workload.dataset, "path", workload.path,
                   "model", workload.model, "samples", workload.samples, "sample_bytes",
                   workload.sample_bytes, "model_flops_per_sample", workload.flops_per_sample,
                   "cached_samples", workload.cached_samples);
  detail::read_newer(json, "script", workload.script);
  detail::read_by(json, "cache",
                  [&](const Json& value) { detail::read_cache(value, workload.cache); });
  detail::read_by(json, "load_parts",
                  [&](const Json& value) { workload.load = detail::read_load_costs(value); });
  detail::read_newer_by(json, "gpu_ceilings",
                        [&](const Json& value) { workload.gpu_ceilings = gpu_ceilings_of(value); });
}

inline void from_json(const Json& json, Constraints& most) {
  detail::read_all(json, "max_memory_bytes", most.max_memory_bytes, "max_workers", most.max_workers,
                   "max_batch", most.max_batch, "effective_batch", most.effective_batch);
  detail::read_newer(json, "max_device_memory_bytes", most.max_device_memory_bytes);
}

inline void from_json(const Json& json, NotApplicable& value) {
  detail::read_all(json, "axis", value.axis, "value", value.value, "why", value.why);
}

namespace detail {

/// Axes that are newer than the file have their default alone.
inline void read_axes(const Json& json, Space& space) {
  for_each_axis_of(space, [&]<class T>(const Axis<T>& axis, std::vector<T>& values) {
    const std::string name(axis.name);
    if (axis.newer && !json.contains(name)) return;
    read_by(json, name.c_str(), [&](const Json& list) {
      values.clear();
      for (const Json& item : list) {
        T value{};
        read_axis(item, value);
        values.push_back(value);
      }
    });
  });
}

inline void read_space(const Json& json, Report& report) {
  read_by(json, "axes", [&](const Json& axes) { read_axes(axes, report.space); });
  read_by(json, "allowed", [&](const Json& tiers) {
    for (const Json& tier : tiers) {
      report.allowed.push_back(static_cast<Tier>(index_of(tier_names, tier)));
    }
  });
  read_all(json, "workers_may_grow", report.space.workers_may_grow, "objective", report.objective,
           "budget_s", report.budget_s, "not_applicable", report.outcome.not_applicable);
  read_newer(json, "constraints", report.constraints);
  report.space.effective_batch = report.constraints.effective_batch.value_or(0);
}

}  // namespace detail
}  // namespace feedrate::inline v0
