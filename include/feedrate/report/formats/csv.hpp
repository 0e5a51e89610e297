// SPDX-License-Identifier: Apache-2.0
// A gate as CSV (RFC 4180): a line for each metric and each requirement.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "feedrate/report/formats/escapes.hpp"
#include "feedrate/report/gate/gate.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// "estimate,low,high,"; what is not known stays empty.
inline std::string csv_interval(const std::optional<Interval>& interval) {
  if (!interval) return ",,,";
  return number_text(interval->estimate) + "," + number_text(interval->low) + "," +
         number_text(interval->high) + ",";
}

inline std::string csv_row(std::string_view kind, std::string_view name, std::string_view unit) {
  return std::string(kind) + "," + csv_text(name) + "," + csv_text(unit) + ",";
}

}  // namespace detail

/// Values in the metric's unit.
inline std::string csv_document(const Gate& gate, Undecided) {
  std::string text =
      "kind,name,unit,value,value_low,value_high,base,base_low,base_high,speed_ratio,"
      "speed_ratio_low,speed_ratio_high,conclusion,reason\r\n";
  for (const GateMetric& metric : gate.metrics) {
    text += detail::csv_row("metric", metric.name, metric.unit) +
            detail::csv_interval(metric.value) + detail::csv_interval(metric.base) +
            detail::csv_interval(metric.speed_ratio) +
            std::string(metric.conclusion ? name_of(*metric.conclusion) : "") + "," +
            csv_text(metric.reason) + "\r\n";
  }
  for (const GateRequirement& requirement : gate.requirements) {
    text += detail::csv_row("requirement", requirement.text, "") +
            detail::csv_interval(requirement.value) + detail::csv_interval({}) +
            detail::csv_interval({}) + std::string(name_of(requirement.fulfilment)) + "," +
            csv_text(requirement.reason) + "\r\n";
  }
  return text;
}

}  // namespace feedrate::inline v0
