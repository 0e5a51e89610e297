// SPDX-License-Identifier: Apache-2.0
// The sentences of a gate: its verdict, and each metric and requirement.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/gate/gate.hpp"
#include "feedrate/report/text/clean_text.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate::inline v0 {

/// A value for people: "14,642 samples/s", "1.25 s", "23.4 GiB", "0.912".
inline std::string value_text(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "unknown";
  if (unit == "s") return format_duration(value);
  if (unit == "bytes" && value >= 0) return format_bytes(static_cast<std::uint64_t>(value));
  if (unit == "1" || unit.empty()) return format_number(value);
  return format_number(value) + " " + clean_text(unit);
}

/// A change of speed: "-12 %", "+3.1 %".
inline std::string change_text(double speed_ratio) {
  if (!std::isfinite(speed_ratio)) return "unknown";
  const std::string text = format_percent(speed_ratio - 1);
  return speed_ratio > 1 ? "+" + text : text;
}

/// "LOW to HIGH"; of infinite bounds, "at least LOW", "at most HIGH", or nothing.
template <class Text>
std::string bounds_text(const Interval& interval, const Text& text) {
  const bool low = std::isfinite(interval.low), high = std::isfinite(interval.high);
  if (low && high) return text(interval.low) + " to " + text(interval.high);
  return low ? "at least " + text(interval.low) : high ? "at most " + text(interval.high) : "";
}

/// The same of a ratio of speeds: that it is above 0 says nothing.
inline std::string change_bounds_text(Interval ratio) {
  if (ratio.low <= 0) ratio.low = -std::numeric_limits<double>::infinity();
  return bounds_text(ratio, change_text);
}

/// How a conclusion is told.
inline std::string words_of(Conclusion conclusion) {
  return conclusion == Conclusion::not_comparable ? "not comparable"
                                                  : std::string(name_of(conclusion));
}

inline std::string words_of(Fulfilment fulfilment) {
  return fulfilment == Fulfilment::not_met ? "not met" : std::string(name_of(fulfilment));
}

/// What a requirement counts as.
constexpr Conclusion conclusion_of(Fulfilment fulfilment) noexcept {
  return fulfilment == Fulfilment::met       ? Conclusion::pass
         : fulfilment == Fulfilment::not_met ? Conclusion::slower
                                             : Conclusion::inconclusive;
}

namespace detail {

inline std::string in_brackets(const std::string& bounds) {
  return bounds.empty() ? "" : " (95 % interval: " + bounds + ")";
}

inline std::string estimate_text(const Interval& value, std::string_view unit) {
  return value_text(value.estimate, unit) +
         in_brackets(bounds_text(value, [&](double v) { return value_text(v, unit); }));
}

inline std::string with_reason(std::string text, std::string_view reason) {
  return reason.empty() ? text + "." : std::move(text) + ". " + clean_text(reason);
}

/// Metrics from the worst to the best; those that are not judged last.
inline std::vector<const GateMetric*> worst_first(const Gate& gate) {
  std::vector<const GateMetric*> metrics;
  for (const GateMetric& metric : gate.metrics) metrics.push_back(&metric);
  const auto badness = [](const GateMetric* one) {
    return one->conclusion ? static_cast<int>(*one->conclusion) : -1;
  };
  std::stable_sort(metrics.begin(), metrics.end(),
                   [&](const auto* a, const auto* b) { return badness(a) > badness(b); });
  return metrics;
}

/// "2 of 5 metrics are", "1 of 1 requirement is".
inline std::string some_are(std::size_t some, std::size_t all, const std::string& what) {
  return format_count(some) + " of " + format_count(all) + " " + what + (all == 1 ? "" : "s") +
         (some == 1 ? " is" : " are");
}

inline std::size_t count_of(const Gate& gate, Conclusion conclusion) {
  return static_cast<std::size_t>(
      std::count_if(gate.metrics.begin(), gate.metrics.end(),
                    [&](const GateMetric& metric) { return metric.conclusion == conclusion; }));
}

inline std::size_t count_of(const Gate& gate, Fulfilment fulfilment) {
  const auto is_so = [&](const GateRequirement& one) { return one.fulfilment == fulfilment; };
  return static_cast<std::size_t>(
      std::count_if(gate.requirements.begin(), gate.requirements.end(), is_so));
}

/// "2 of 5 metrics are slower, 1 of 1 requirement is not met"; empty where none is.
inline std::string counts_text(const Gate& gate, Conclusion conclusion, Fulfilment fulfilment) {
  const std::size_t judged = static_cast<std::size_t>(
      std::count_if(gate.metrics.begin(), gate.metrics.end(),
                    [](const GateMetric& metric) { return metric.conclusion.has_value(); }));
  const std::size_t metrics = count_of(gate, conclusion);
  const std::size_t requirements = count_of(gate, fulfilment);
  std::string text;
  if (metrics) text = some_are(metrics, judged, "metric") + " " + words_of(conclusion);
  if (requirements) {
    text += (text.empty() ? "" : ", ") +
            some_are(requirements, gate.requirements.size(), "requirement") + " " +
            words_of(fulfilment);
  }
  return text;
}

/// What passed, and what that means.
inline std::string pass_text(const Gate& gate) {
  std::string text;
  if (count_of(gate, Conclusion::pass)) {
    text = "no metric is more than " + format_percent(gate.limits.max) + " slower";
  }
  if (!gate.requirements.empty()) {
    text += std::string(text.empty() ? "" : ", ") +
            (gate.requirements.size() == 1 ? "the requirement is met" : "all requirements are met");
  }
  return text.empty() ? "nothing was judged" : text;
}

}  // namespace detail

/// "samples_per_s: 10,230 samples/s, base 11,660 samples/s, speed -12 % (95 % interval: ...)."
inline std::string sentence_of(const GateMetric& metric) {
  std::string text = clean_text(metric.name) + ": ";
  if (!metric.base && !metric.speed_ratio) {
    text += detail::estimate_text(metric.value, metric.unit);
  } else {
    text += value_text(metric.value.estimate, metric.unit);
  }
  if (metric.base) text += ", base " + value_text(metric.base->estimate, metric.unit);
  if (metric.speed_ratio) {
    text += ", speed " + change_text(metric.speed_ratio->estimate) +
            detail::in_brackets(change_bounds_text(*metric.speed_ratio));
  }
  return detail::with_reason(text, metric.reason);
}

/// "fed >= 0.90: fed is 0.712 (95 % interval: 0.690 to 0.734)."
inline std::string sentence_of(const Gate& gate, const GateRequirement& requirement) {
  const auto metric =
      std::find_if(gate.metrics.begin(), gate.metrics.end(),
                   [&](const GateMetric& one) { return one.name == requirement.metric; });
  const std::string unit = metric == gate.metrics.end() ? "1" : metric->unit;
  const std::string name = clean_text(requirement.metric);
  return detail::with_reason(
      clean_text(requirement.text) + ": " +
          (requirement.value ? name + " is " + detail::estimate_text(*requirement.value, unit)
                             : name + " was not measured"),
      requirement.reason);
}

/// What did not pass.
struct Failure {
  Conclusion conclusion = Conclusion::slower;
  std::string kind;      ///< such as "not met"
  std::string sentence;  ///< what, how much, interval, reason
};

/// The worst first: requirements, then metrics.
inline std::vector<Failure> failures_of(const Gate& gate) {
  std::vector<Failure> failures;
  const auto add_requirements = [&](Fulfilment fulfilment) {
    for (const GateRequirement& requirement : gate.requirements) {
      if (requirement.fulfilment != fulfilment) continue;
      failures.push_back(
          {conclusion_of(fulfilment), words_of(fulfilment), sentence_of(gate, requirement)});
    }
  };
  add_requirements(Fulfilment::not_met);
  for (const GateMetric* metric : detail::worst_first(gate)) {
    if (!metric->conclusion || *metric->conclusion == Conclusion::pass) continue;
    failures.push_back({*metric->conclusion, words_of(*metric->conclusion), sentence_of(*metric)});
  }
  add_requirements(Fulfilment::inconclusive);
  return failures;
}

/// The verdict, in capitals and as a sentence: "SLOWER: 2 of 5 metrics are slower".
inline std::string verdict_of(const Gate& gate) {
  const Conclusion conclusion = gate.conclusion();
  if (conclusion == Conclusion::pass) return "PASS: " + detail::pass_text(gate);
  if (conclusion == Conclusion::not_comparable) {
    const std::string counts = detail::counts_text(gate, conclusion, Fulfilment::inconclusive);
    return "NOT COMPARABLE" + (counts.empty() ? "" : ": " + counts);
  }
  if (conclusion == Conclusion::inconclusive) {
    const std::string counts = detail::counts_text(gate, conclusion, Fulfilment::inconclusive);
    return "INCONCLUSIVE" + (counts.empty() ? "" : ": " + counts);
  }
  const bool slower =
      gate.overruled == Conclusion::slower || detail::count_of(gate, Conclusion::slower) > 0;
  const std::string counts = detail::counts_text(gate, conclusion, Fulfilment::not_met);
  return std::string(slower ? "SLOWER" : "NOT MET") + (counts.empty() ? "" : ": " + counts);
}

}  // namespace feedrate::inline v0
