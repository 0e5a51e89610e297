// SPDX-License-Identifier: Apache-2.0
// Judges requirements by the intervals of what was measured.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/gate/gate.hpp"
#include "feedrate/report/requirement.hpp"

namespace feedrate::inline v0 {

/// A metric that is not compared with a base.
inline GateMetric measured_metric(const MetricKind& kind, const Interval& value) {
  GateMetric metric;
  metric.name = kind.name;
  metric.unit = kind.unit;
  metric.higher_is_better = kind.higher_is_better;
  metric.value = value;
  return metric;
}

/// Met or not where all of the interval says so, and inconclusive where the bound lies within. A
/// value without noise is an interval of no width.
inline Fulfilment fulfilment_of(const Requirement& requirement, const Interval& value) noexcept {
  const double bound = requirement.bound;
  bool met = false, not_met = false;
  switch (requirement.relation) {
    case Relation::at_least:
      met = value.low >= bound, not_met = value.high < bound;
      break;
    case Relation::above:
      met = value.low > bound, not_met = value.high <= bound;
      break;
    case Relation::at_most:
      met = value.high <= bound, not_met = value.low > bound;
      break;
    case Relation::below:
      met = value.high < bound, not_met = value.low >= bound;
      break;
  }
  return met ? Fulfilment::met : not_met ? Fulfilment::not_met : Fulfilment::inconclusive;
}

/// What was not measured is never met. `of` is the reason of what is not met, a sentence.
inline GateRequirement judged(const Requirement& requirement,
                              const std::vector<GateMetric>& metrics, std::string_view of) {
  GateRequirement result{requirement.text, requirement.metric, {}, Fulfilment::not_met, ""};
  const auto metric = std::find_if(metrics.begin(), metrics.end(), [&](const GateMetric& one) {
    return one.name == requirement.metric;
  });
  if (metric == metrics.end()) {
    result.reason = "What was not measured is not met.";
    return result;
  }
  result.value = metric->value;
  result.fulfilment = fulfilment_of(requirement, metric->value);
  if (result.fulfilment == Fulfilment::inconclusive) {
    result.reason = "The interval contains the bound: measure longer, or on an idle machine.";
  } else if (result.fulfilment == Fulfilment::not_met) {
    result.reason = of;
  }
  return result;
}

inline std::vector<GateRequirement> judged(const std::vector<Requirement>& requirements,
                                           const std::vector<GateMetric>& metrics,
                                           std::string_view of = "") {
  std::vector<GateRequirement> all;
  for (const Requirement& requirement : requirements) {
    all.push_back(judged(requirement, metrics, of));
  }
  return all;
}

}  // namespace feedrate::inline v0
