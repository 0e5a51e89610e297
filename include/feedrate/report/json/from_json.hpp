// SPDX-License-Identifier: Apache-2.0
// Reads configs, rounds and skips from JSON.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "feedrate/core/error.hpp"
#include "feedrate/report/json/fields.hpp"
#include "feedrate/report/report.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// How deeply brackets nest outside of strings: deep documents overflow the stack when they are
/// destroyed.
inline int json_depth(std::string_view text) noexcept {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return deepest;
}

/// A value of an axis.
template <class T>
void read_axis(const Json& value, T& field) {
  if constexpr (std::is_enum_v<T>) {
    field = static_cast<T>(index_of(names_of<T>, value));
  } else if constexpr (std::is_same_v<T, bool>) {
    value.get_to(field);
  } else {
    field = number_of<T>(value);
  }
}

/// A config of a file that may be older than some axes, which then have their defaults.
inline void read_older_config(const Json& object, const char* key, Config& config) {
  read_by(object, key, [&](const Json& json) {
    for_each_axis([&](const auto& axis) {
      const std::string name(axis.name);
      const bool newer = axis.newer || !axis.values;  // the first reports did not accumulate
      if (newer && json.is_object() && !json.contains(name)) return;
      read_by(json, name.c_str(), [&](const Json& value) { read_axis(value, config.*axis.field); });
    });
  });
}

}  // namespace detail

/// One JSON document. Throws Error(data) on text that is none, or nests deeper than 64 levels.
inline Json parse_json(std::string_view text) {
  if (detail::json_depth(text) > 64) {
    throw Error(Fault::data, "This JSON nests deeper than 64 levels.");
  }
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) throw Error(Fault::data, "This is no JSON.");
  return json;
}

// The functions below are what Json::get looks for. They throw Json::exception where a key is
// missing or holds another type, and Error(data) on a name that is not known.

inline void from_json(const Json& json, Config& config) {
  for_each_axis([&](const auto& axis) {
    detail::read_by(json, std::string(axis.name).c_str(),
                    [&](const Json& value) { detail::read_axis(value, config.*axis.field); });
  });
}

inline void from_json(const Json& json, GpuActivity& gpm) {
  detail::read_if_told(json, "sm", gpm.sm);
  detail::read_if_told(json, "tensor", gpm.tensor);
  detail::read_if_told(json, "dram", gpm.dram);
}

inline void from_json(const Json& json, Round& round) {
  detail::read_all(json, "order", round.order, "start_s", round.start_s, "duration_s",
                   round.duration_s, "samples", round.samples, "batches", round.batches, "cpu_s",
                   round.cpu_s, "first_batch_s", round.first_batch_s, "ring_at_start",
                   round.ring_at_start, "ring_at_end", round.ring_at_end);
  detail::read_newer(json, "block", round.block, "variability", round.variability, "queue_s",
                     round.queue_s, "energy_j", round.energy_j, "parked_cpu_s", round.parked_cpu_s,
                     "outside_s", round.outside_s, "boundary_s", round.boundary_s);
  const auto read_or_unknown = [&](const char* key, double& seconds) {
    detail::read_by(json, key, [&](const Json& value) {
      seconds = value.is_null() ? -1 : value.get<double>();
    });
  };
  read_or_unknown("wait_s", round.wait_s);
  read_or_unknown("step_s", round.step_s);
  detail::read_if_told(json, "warm_up_batches", round.warm_up_batches);
  detail::read_if_told(json, "others_share", round.others_share);
  const auto of_a_gpu = [&](const char* key, auto& field) {
    detail::read_if_told(json, key, field);  // scripts look at none
  };
  of_a_gpu("copy_s", round.copy_s);
  of_a_gpu("host_s", round.host_s);
  of_a_gpu("slab_s", round.slab_s);
  of_a_gpu("device_bytes", round.device_bytes);
  of_a_gpu("nvml_busy", round.nvml_busy);
  of_a_gpu("power_w", round.power_w);
  of_a_gpu("clock_hz", round.clock_hz);
  of_a_gpu("temperature_c", round.temperature_c);
  of_a_gpu("gpm", round.gpm);
}

inline void from_json(const Json& json, Skip& skip) {
  detail::read_all(json, "sample", skip.sample, "name", skip.name, "reason", skip.reason);
}

}  // namespace feedrate::inline v0
