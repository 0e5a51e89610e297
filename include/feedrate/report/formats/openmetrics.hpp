// SPDX-License-Identifier: Apache-2.0
// A gate as OpenMetrics text, which Prometheus and what speaks its format read.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "feedrate/report/formats/escapes.hpp"
#include "feedrate/report/formats/names.hpp"
#include "feedrate/report/gate/gate.hpp"

namespace feedrate::inline v0 {
namespace detail {

inline std::string label(std::string_view name, std::string_view value) {
  return std::string(name) + "=\"" + label_text(value) + "\"";
}

inline std::string family(std::string_view name, std::string_view type, std::string_view help) {
  return "# TYPE " + std::string(name) + " " + std::string(type) + "\n# HELP " + std::string(name) +
         " " + std::string(help) + "\n";
}

/// One sample for the estimate and for each bound that is known.
inline std::string samples(const std::string& name, const std::string& labels,
                           const Interval& interval) {
  std::string text;
  const auto add = [&](std::string_view bound, double value) {
    if (!std::isfinite(value)) return;
    text += name + "{" + labels + "," + label("bound", bound) + "} " + number_text(value) + "\n";
  };
  add("estimate", interval.estimate);
  add("low", interval.low);
  add("high", interval.high);
  return text;
}

/// A set of states, of which one is 1.
template <class State, std::size_t N>
std::string states(const std::string& name, const std::string& labels,
                   const std::array<State, N>& all, State now) {
  std::string text;
  for (const State state : all) {
    text += name + "{" + labels + (labels.empty() ? "" : ",") + label(name, name_of(state)) + "} " +
            (state == now ? "1" : "0") + "\n";
  }
  return text;
}

inline constexpr std::array<Conclusion, 4> conclusions = {
    Conclusion::pass, Conclusion::inconclusive, Conclusion::not_comparable, Conclusion::slower};
inline constexpr std::array<Fulfilment, 3> fulfilments = {Fulfilment::met, Fulfilment::inconclusive,
                                                          Fulfilment::not_met};

inline std::string run_families(const Gate& gate) {
  return family("feedrate_gate", "info", "What was judged, and where.") + "feedrate_gate_info{" +
         label("verb", gate.verb) + "," + label("subject", gate.subject) + "," +
         label("version", gate.tool.version) + "," + label("machine", gate.machine.fingerprint) +
         "} 1\n" + family("feedrate_gate_verdict", "stateset", "The worst conclusion of all.") +
         states("feedrate_gate_verdict", "", conclusions, gate.conclusion());
}

inline std::string metric_families(const Gate& gate) {
  const auto names = unique_names(gate);
  std::string values = family("feedrate_gate_metric", "gauge", "Values, in the unit of the label.");
  std::string ratios = family("feedrate_gate_speed_ratio", "gauge",
                              "The new speed over the base's. Above 1 is faster.");
  std::string judged =
      family("feedrate_gate_conclusion", "stateset", "What is concluded on each metric.");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const GateMetric& metric = gate.metrics[i];
    const std::string name = label("metric", names[i]);
    const std::string labels = name + "," + label("unit", metric.unit) + ",";
    values += samples("feedrate_gate_metric", labels + label("side", "head"), metric.value);
    if (metric.base) {
      values += samples("feedrate_gate_metric", labels + label("side", "base"), *metric.base);
    }
    if (metric.speed_ratio) {
      ratios += samples("feedrate_gate_speed_ratio", name, *metric.speed_ratio);
    }
    if (metric.conclusion) {
      judged += states("feedrate_gate_conclusion", name, conclusions, *metric.conclusion);
    }
  }
  return values + ratios + judged;
}

}  // namespace detail

/// Requirements that were given twice are written once.
inline std::string openmetrics_document(const Gate& gate, Undecided) {
  std::string text =
      detail::run_families(gate) + detail::metric_families(gate) +
      detail::family("feedrate_gate_requirement", "stateset", "What each requirement came to.");
  std::set<std::string> seen;
  for (const GateRequirement& requirement : gate.requirements) {
    const std::string label = detail::label("requirement", requirement.text);
    if (!seen.insert(label).second) continue;
    text += detail::states("feedrate_gate_requirement", label, detail::fulfilments,
                           requirement.fulfilment);
  }
  return text + "# EOF\n";
}

}  // namespace feedrate::inline v0
