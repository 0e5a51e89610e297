// SPDX-License-Identifier: Apache-2.0
// Reads configs, rounds and skips from JSON.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/report/json/machine_json.hpp"
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

/// The field `key`. The writers write null for what is unknown or not finite: it becomes the
/// type's empty value, or, for numbers with a point, not-a-number.
template <class T>
void read(const Json& object, const char* key, T& field) {
  const Json& value = object.at(key);
  if constexpr (std::is_floating_point_v<T>) {
    field = value.is_null() ? std::numeric_limits<T>::quiet_NaN() : value.get<T>();
  } else {
    field = value.is_null() ? T{} : value.get<T>();
  }
}

template <class T>
void read(const Json& object, const char* key, std::optional<T>& field) {
  const Json& value = object.at(key);
  field = value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

/// A field that not everybody can tell: it stays as it is where it is null or missing.
template <class T>
void read_if_told(const Json& object, const char* key, T& field) {
  if (object.contains(key) && !object.at(key).is_null()) object.at(key).get_to(field);
}

/// Several fields: a key, its field, a key, its field, and so on.
inline void read_all(const Json&) {}

template <class T, class... Rest>
void read_all(const Json& object, const char* key, T& field, Rest&&... rest) {
  read(object, key, field);
  read_all(object, rest...);
}

/// Which of `names` the text is; throws Error(data) when it is none.
template <std::size_t N>
std::size_t index_of(const std::array<std::string_view, N>& names, const Json& json) {
  const auto name = json.get<std::string>();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw Error(Fault::data, "'" + name + "' is not known here.");
  return static_cast<std::size_t>(found - names.begin());
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
    auto& field = config.*axis.field;
    const Json& value = json.at(std::string(axis.name));
    using Value = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_enum_v<Value>) {
      field = static_cast<Value>(detail::index_of(names_of<Value>, value));
    } else {
      value.get_to(field);
    }
  });
}

inline void from_json(const Json& json, GpuActivity& gpm) {
  detail::read_if_told(json, "sm", gpm.sm);
  detail::read_if_told(json, "tensor", gpm.tensor);
  detail::read_if_told(json, "dram", gpm.dram);
}

inline void from_json(const Json& json, Round& round) {
  detail::read_all(json, "order", round.order, "block", round.block, "start_s", round.start_s,
                   "duration_s", round.duration_s, "samples", round.samples, "batches",
                   round.batches, "wait_s", round.wait_s, "step_s", round.step_s, "cpu_s",
                   round.cpu_s, "first_batch_s", round.first_batch_s, "ring_at_start",
                   round.ring_at_start, "ring_at_end", round.ring_at_end, "variability",
                   round.variability, "queue_s", round.queue_s, "energy_j", round.energy_j,
                   "parked_cpu_s", round.parked_cpu_s, "outside_s", round.outside_s);
  detail::read_if_told(json, "warm_up_batches", round.warm_up_batches);  // older journals lack it
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
