// SPDX-License-Identifier: Apache-2.0
// The metrics of a report: those of the recommended config, or of the reference where nothing is
// recommended.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/gate/requirements.hpp"
#include "feedrate/report/report.hpp"

namespace feedrate::inline v0 {

/// A metric of a run, and how it is found in a report; empty where it was not measured.
struct RunMetric : MetricKind {
  std::optional<Interval> (*of)(const Report&, const Trial&);
};

namespace detail {

/// Without noise.
inline Interval exact(double value) noexcept {
  return {value, value, value};
}

/// 95 % interval of the mean of what `part(round)` says; what is a time or a share is not negative.
template <class Part>
Interval mean_over_rounds(const Trial& trial, Part&& part) {
  std::vector<double> values(trial.rounds.size());
  std::transform(trial.rounds.begin(), trial.rounds.end(), values.begin(), part);
  Interval interval = mean_interval(values, 0.05);
  if (std::isfinite(interval.low)) interval.low = std::max(0.0, interval.low);
  return interval;
}

/// A value whose logarithm scatters as that of the rate, `errors` times as far.
inline Interval as_rate(double value, const Interval& rate, double errors = 1) noexcept {
  return {value, value * std::pow(rate.low / rate.estimate, errors),
          value * std::pow(rate.high / rate.estimate, errors)};
}

/// Loop and step were measured in turn, once or more: each has the error of so many rounds.
inline std::optional<Interval> fed_interval(const Report& report, const Trial& trial) {
  const auto fed = trial.fed();
  if (!fed) return std::nullopt;
  const auto& probes = report.outcome.probes;
  const auto turns = std::count_if(probes.begin(), probes.end(), [&](const Probe& probe) {
    return probe.part == Part::coupled && probe.config == trial.config;
  });
  const auto rounds = static_cast<double>(trial.rounds.size());
  const double errors =
      std::sqrt(rounds * 2 / static_cast<double>(std::max<std::ptrdiff_t>(turns, 1)));
  return as_rate(*fed, trial.samples_per_s(), errors);
}

/// The fastest step was measured in one round. That of an emulated device is exact.
inline std::optional<Interval> utilization_interval(const Report& report, const Trial& trial) {
  const auto share = of_best(report, trial);
  if (!share) return std::nullopt;
  const auto rounds = static_cast<double>(trial.rounds.size());
  return as_rate(*share, trial.samples_per_s(), report.accelerator ? 1 : std::sqrt(rounds + 1));
}

}  // namespace detail

/// What `--require` of a run may name.
inline constexpr std::array<RunMetric, 7> run_metrics = {{
    {{"fed", "1"}, detail::fed_interval},
    {{"busy", "1"},
     [](const Report&, const Trial& trial) -> std::optional<Interval> {
       if (!trial.busy()) return std::nullopt;
       return detail::mean_over_rounds(trial, [](const Round& round) { return round.busy(); });
     }},
    {{"utilization", "1"}, detail::utilization_interval},
    {{"samples_per_s", "samples/s"},
     [](const Report&, const Trial& trial) -> std::optional<Interval> {
       return trial.samples_per_s();
     }},
    {{"first_batch_s", "s", false},
     [](const Report&, const Trial& trial) -> std::optional<Interval> {
       return detail::mean_over_rounds(trial,
                                       [](const Round& round) { return round.first_batch_s; });
     }},
    {{"speedup", "1"},
     [](const Report& report, const Trial&) -> std::optional<Interval> {
       return proven_speedup(report);
     }},
    {{"memory_bytes", "bytes", false},
     [](const Report&, const Trial& trial) -> std::optional<Interval> {
       if (trial.memory_bytes == 0) return std::nullopt;
       return detail::exact(static_cast<double>(trial.memory_bytes));
     }},
}};

/// The metrics that were measured; none where no config was.
inline std::vector<GateMetric> metrics_of(const Report& report) {
  std::vector<GateMetric> metrics;
  if (report.outcome.tiers.empty()) return metrics;
  const Trial& trial = report.outcome.recommended();
  if (trial.rounds.empty()) return metrics;
  for (const RunMetric& metric : run_metrics) {
    if (const auto value = metric.of(report, trial)) {
      metrics.push_back(measured_metric(metric, *value));
    }
  }
  return metrics;
}

/// One of them, by its name.
inline std::optional<Interval> metric_of(const Report& report, std::string_view name) {
  for (const GateMetric& metric : metrics_of(report)) {
    if (metric.name == name) return metric.value;
  }
  return std::nullopt;
}

/// The requirements, judged. A run that was interrupted meets none.
inline std::vector<GateRequirement> judged(const std::vector<Requirement>& requirements,
                                           const Report& report) {
  const Outcome& outcome = report.outcome;
  const bool keeps = outcome.tiers.empty() || outcome.choice().trial == outcome.reference;
  const char* of =
      keeps ? "Of the reference, since nothing is recommended." : "Of the recommended config.";
  std::vector<GateRequirement> all = judged(requirements, metrics_of(report), of);
  for (GateRequirement& one : all) {
    if (keeps && one.value && one.reason.empty()) one.reason = of;
    if (!outcome.interrupted) continue;
    if (one.fulfilment == Fulfilment::met) one.fulfilment = Fulfilment::inconclusive;
    one.reason = "The run was interrupted.";
  }
  return all;
}

/// The gate of a run.
inline Gate gate_of(const Report& report) {
  Gate gate;
  gate.tool = report.tool;
  gate.machine = report.machine;
  gate.verb = "tune";
  gate.subject = report.workload.name;
  gate.metrics = metrics_of(report);
  gate.requirements = report.requirements;
  return gate;
}

}  // namespace feedrate::inline v0
