// SPDX-License-Identifier: Apache-2.0
// A gate as Bencher Metric Format: {benchmark: {measure: {value, lower_value, upper_value}}}.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "feedrate/report/formats/names.hpp"
#include "feedrate/report/formats/units.hpp"
#include "feedrate/report/json/json.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Bencher's own measures are latency, in nanoseconds, and throughput, per second.
struct BencherMeasure {
  std::string_view name;
  double factor;
};

inline BencherMeasure measure_of(std::string_view unit) {
  if (seconds_in(unit) > 0) return {"latency", seconds_in(unit) * 1e9};
  if (is_rate(unit)) return {"throughput", 1};
  return {unit == "bytes" ? "memory-bytes" : "ratio", 1};
}

/// Bounds that are not known are left out.
inline Json bencher_metric(const Interval& interval, double factor) {
  Json metric = {{"value", interval.estimate * factor}};
  if (std::isfinite(interval.low)) metric["lower_value"] = interval.low * factor;
  if (std::isfinite(interval.high)) metric["upper_value"] = interval.high * factor;
  return metric;
}

/// Bencher takes names of up to 1,024 characters.
inline std::string shortened(std::string_view name) {
  constexpr std::size_t most_bytes = 1024;
  std::size_t end = std::min(name.size(), most_bytes);
  while (end < name.size() && (byte_at(name, end) & 0xC0) == 0x80) --end;
  return std::string(name.substr(0, end));
}

}  // namespace detail

/// Only the new values: Bencher keeps what came before.
inline std::string bencher_document(const Gate& gate, Undecided) {
  Json json = Json::object();
  const auto names = unique_names(gate);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const GateMetric& metric = gate.metrics[i];
    if (!std::isfinite(metric.value.estimate)) continue;
    const auto [measure, factor] = detail::measure_of(metric.unit);
    Json& benchmark = json[detail::shortened(names[i])];
    benchmark[std::string(measure)] = detail::bencher_metric(metric.value, factor);
    if (metric.speed_ratio && std::isfinite(metric.speed_ratio->estimate)) {
      benchmark["speed-ratio"] = detail::bencher_metric(*metric.speed_ratio, 1);
    }
  }
  return json_text(json);
}

}  // namespace feedrate::inline v0
