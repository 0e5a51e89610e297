// SPDX-License-Identifier: Apache-2.0
// A gate as Google Benchmark's JSON, which its compare.py reads.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "feedrate/report/formats/names.hpp"
#include "feedrate/report/formats/units.hpp"
#include "feedrate/report/json/json.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Seconds of a run, or per unit of work of a rate; empty for what is neither, such as memory.
inline std::optional<double> seconds_of(double value, std::string_view unit) {
  if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
  if (is_rate(unit)) return 1 / value;
  return seconds_in(unit) > 0 ? std::optional(value * seconds_in(unit)) : std::nullopt;
}

/// The CPU's time is not known: compare.py wants one, and gets the real time again.
inline Json benchmark_entry(const std::string& name, double seconds, const GateMetric& metric,
                            double value) {
  Json entry = {{"name", name},     {"run_name", name},           {"run_type", "iteration"},
                {"repetitions", 1}, {"repetition_index", 0},      {"threads", 1},
                {"iterations", 1},  {"real_time", seconds * 1e9}, {"cpu_time", seconds * 1e9},
                {"time_unit", "ns"}};
  if (is_rate(metric.unit)) entry["items_per_second"] = value;
  return entry;
}

inline void add_entry(Json& list, const std::string& name, const GateMetric& metric, double value) {
  if (const auto seconds = seconds_of(value, metric.unit)) {
    list.push_back(benchmark_entry(name, *seconds, metric, value));
  }
}

}  // namespace detail

/// A metric that has a base is two entries, base/NAME and head/NAME: `compare.py filters FILE
/// ^base/ ^head/` compares them. Metrics that are neither times nor rates are left out.
inline std::string google_benchmark_document(const Gate& gate, Undecided) {
  Json list = Json::array();
  const auto names = unique_names(gate);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const GateMetric& metric = gate.metrics[i];
    if (metric.base) detail::add_entry(list, "base/" + names[i], metric, metric.base->estimate);
    detail::add_entry(list, (metric.base ? "head/" : "") + names[i], metric, metric.value.estimate);
  }
  const Json context = {{"date", gate.tool.started_at},
                        {"executable", "autotune " + gate.verb},
                        {"num_cpus", gate.machine.limits.cpus.usable},
                        {"library_build_type", "release"},
                        {"feedrate_version", gate.tool.version},
                        {"command_line", gate.tool.command_line}};
  return json_text({{"context", context}, {"benchmarks", list}});
}

}  // namespace feedrate::inline v0
