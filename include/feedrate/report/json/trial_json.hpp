// SPDX-License-Identifier: Apache-2.0
// Configs, rounds and trials as JSON.
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "feedrate/report/json/machine_json.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/report/text/reasons.hpp"

namespace feedrate::inline v0 {

/// A value of an axis: a number, true or false, or a name.
template <class T>
Json value_json(T value) {
  if constexpr (std::is_enum_v<T>) {
    return value_text(value);
  } else {
    return value;
  }
}

/// One key per axis.
inline Json to_json(const Config& config) {
  Json json;
  for_each_axis(
      [&](const auto& axis) { json[std::string(axis.name)] = value_json(config.*axis.field); });
  return json;
}

inline Json to_json(const Interval& interval) {
  return {{"estimate", interval.estimate}, {"low", interval.low}, {"high", interval.high}};
}

/// null where all of it is unknown.
inline Json to_json(const GpuActivity& gpm) {
  if (!gpm.known()) return nullptr;
  return {{"sm", detail::or_null_below_0(gpm.sm)},
          {"tensor", detail::or_null_below_0(gpm.tensor)},
          {"dram", detail::or_null_below_0(gpm.dram)}};
}

inline Json to_json(const Round& round) {
  return {{"order", round.order},
          {"block", round.block},
          {"start_s", round.start_s},
          {"duration_s", round.duration_s},
          {"samples", round.samples},
          {"batches", round.batches},
          {"warm_up_batches", round.warm_up_batches},
          {"wait_s", detail::or_null_below_0(round.wait_s)},
          {"step_s", detail::or_null_below_0(round.step_s)},
          {"cpu_s", round.cpu_s},
          {"first_batch_s", round.first_batch_s},
          {"ring_at_start", round.ring_at_start},
          {"ring_at_end", round.ring_at_end},
          {"variability", round.variability},
          {"queue_s", round.queue_s},
          {"others_share", detail::or_null_below_0(round.others_share)},
          {"energy_j", round.energy_j},
          {"parked_cpu_s", round.parked_cpu_s},
          {"outside_s", round.outside_s},
          {"boundary_s", round.boundary_s},
          {"copy_s", round.copy_s},
          {"host_s", round.host_s},
          {"slab_s", round.slab_s},
          {"device_bytes", round.device_bytes},
          {"nvml_busy", detail::or_null_below_0(round.nvml_busy)},
          {"power_w", detail::positive_or_null(round.power_w)},
          {"clock_hz", detail::positive_or_null(round.clock_hz)},
          {"temperature_c", detail::positive_or_null(round.temperature_c)},
          {"gpm", to_json(round.gpm)}};
}

inline Json to_json(const Ceilings& ceilings) {
  return {{"loader_samples_per_s", ceilings.loader},
          {"copy_samples_per_s", detail::or_null(ceilings.copy)},
          {"device_samples_per_s", ceilings.device},
          {"shared_cores_samples_per_s", detail::or_null(ceilings.cores)},
          {"coupled_samples_per_s", detail::positive_or_null(ceilings.coupled)}};
}

namespace detail {

inline Json rounds_json(const Trial& trial) {
  Json rounds = Json::array();
  for (const Round& round : trial.rounds) rounds.push_back(to_json(round));
  return rounds;
}

/// What only a trial with rounds has.
inline void add_measured(Json& json, const Report& report, const Trial& trial) {
  json["samples_per_s"] = to_json(trial.samples_per_s());
  json["busy"] = or_null(trial.busy());
  json["nvml_busy"] = or_null(trial.nvml_busy());
  json["gpm"] = to_json(trial.gpm());
  json["waiting"] = or_null(trial.waiting());
  json["fed"] = or_null(trial.fed());
  json["of_best"] = or_null(of_best(report, trial));
  json["mfu"] = or_null(mfu(report, trial));
  json["interference"] = or_null(trial.interference());
  json["samples_per_joule"] = or_null(samples_per_joule(trial));
  json["first_batch_s"] = trial.first_batch_s();
  json["device_bytes"] = positive_or_null(trial.device_bytes());
}

}  // namespace detail

/// `report` gives what a trial's figures are relative to.
inline Json to_json(const Report& report, const Trial& trial) {
  Json json = {{"config", to_json(trial.config)},
               {"status", name_of(trial.status)},
               {"reason", detail::or_null(reason_text(trial.reason))},
               {"stderr_tail", detail::or_null(trial.stderr_tail)},
               {"predicted_samples_per_s", detail::positive_or_null(trial.predicted_samples_per_s)},
               {"prediction_error", detail::or_null(prediction_error(trial))},
               {"rounds", detail::rounds_json(trial)}};
  if (!trial.rounds.empty()) detail::add_measured(json, report, trial);
  json["ceilings"] = trial.ceilings ? to_json(*trial.ceilings) : Json(nullptr);
  json["epoch_boundary_s"] = detail::or_null_below_0(trial.epoch_boundary_s);
  json["memory_bytes"] = detail::positive_or_null(trial.memory_bytes);
  return json;
}

}  // namespace feedrate::inline v0
