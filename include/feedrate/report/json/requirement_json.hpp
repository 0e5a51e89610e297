// SPDX-License-Identifier: Apache-2.0
// Requirements that were judged, as JSON and back; bounds that are not known are null.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "feedrate/report/json/machine_json.hpp"
#include "feedrate/report/requirement.hpp"

namespace feedrate::inline v0 {
namespace detail {

inline Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

inline Json bounds_json(const Interval& interval) {
  return {{"estimate", finite_or_null(interval.estimate)},
          {"low", finite_or_null(interval.low)},
          {"high", finite_or_null(interval.high)}};
}

inline Json bounds_json(const std::optional<Interval>& interval) {
  return interval ? bounds_json(*interval) : Json(nullptr);
}

}  // namespace detail

inline Json to_json(const GateRequirement& requirement) {
  return {{"text", requirement.text},
          {"metric", requirement.metric},
          {"value", detail::bounds_json(requirement.value)},
          {"fulfilment", name_of(requirement.fulfilment)},
          {"reason", detail::or_null(requirement.reason)}};
}

}  // namespace feedrate::inline v0
