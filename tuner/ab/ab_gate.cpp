// SPDX-License-Identifier: Apache-2.0
#include "ab/ab_gate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "feedrate/report/gate/gate_sentences.hpp"
#include "feedrate/report/gate/requirements.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate {
namespace {

constexpr double alpha = 0.05;

/// The geometric mean of one metric on one side; `number` is its place in all runs.
Interval interval_of(const AbOutcome& outcome, Side side, std::size_t number) {
  std::vector<double> values;
  for (const AbRun& run : outcome.runs) {
    if (run.side == side) values.push_back(run.result.metrics[number].value);
  }
  return geometric_interval(values, alpha);
}

/// How runs of this metric become longer.
std::string longer(AbMetric metric) {
  if (metric == AbMetric::time) return "give the commands more to do";
  if (metric == AbMetric::benchmark_json) return "raise the programs' --benchmark_min_time";
  return "raise --seconds";
}

/// Why there is no verdict on a metric.
std::string open_reason(const AbOutcome& outcome, std::size_t judged, AbMetric asked) {
  if (std::find(outcome.judged.begin(), outcome.judged.end(), Conclusion::slower) !=
      outcome.judged.end()) {
    return "The comparison ended when another metric was slower.";
  }
  if (outcome.blocks < 2) return "One block of runs is not enough: raise --budget.";
  const std::string noise = "One block of runs varies by " + format_percent(outcome.noise[judged]);
  if (outcome.blocks_missing > 0) {
    return noise + ", so that about " + std::to_string(outcome.blocks_missing) +
           " blocks would be needed: " + longer(asked) + ", or use an idle machine.";
  }
  if (outcome.budget_over) return noise + ", and the budget is over: raise --budget.";
  return noise + ", and " + std::to_string(outcome.blocks) +
         " blocks do not tell: raise --blocks, " + longer(asked) + ", or use an idle machine.";
}

/// The part of a pipeline that got slower with it, where one surely did.
std::string ceiling_reason(const Gate& gate) {
  std::string moved;
  for (const auto& [name, part] : {std::pair("loader_samples_per_s", "the loader alone"),
                                   std::pair("device_samples_per_s", "the step alone")}) {
    const auto metric = std::find_if(gate.metrics.begin(), gate.metrics.end(),
                                     [&](const GateMetric& one) { return one.name == name; });
    if (metric == gate.metrics.end() || metric->speed_ratio->high >= 1) continue;
    moved += std::string(moved.empty() ? "" : ", ") + part + " " +
             change_text(metric->speed_ratio->estimate);
  }
  return moved.empty() ? "" : "Of its parts: " + moved + ".";
}

std::string reason_of(const Gate& gate, const AbOutcome& outcome, std::size_t judged,
                      AbMetric asked) {
  const Conclusion conclusion = outcome.judged[judged];
  if (conclusion == Conclusion::pass) return "";
  if (conclusion != Conclusion::slower) return open_reason(outcome, judged, asked);
  return ceiling_reason(gate);
}

/// The ratio of a metric, judged or not: from its log ratio in each block.
Interval ratio_of(const AbOutcome& outcome, std::size_t number) {
  std::vector<double> log_ratios(static_cast<std::size_t>(outcome.blocks), 0.0);
  for (const AbRun& run : outcome.runs) {
    const double log_speed = std::log(run.result.metrics[number].speed()) / 2;
    log_ratios[static_cast<std::size_t>(run.block)] +=
        run.side == Side::head ? log_speed : -log_speed;
  }
  return ratio_interval(robust_mean(log_ratios));
}

void add_metrics(Gate& gate, const AbOutcome& outcome) {
  const auto& pattern = outcome.runs.front().result.metrics;
  for (std::size_t number = 0; number < pattern.size(); ++number) {
    gate.metrics.push_back({.name = pattern[number].name,
                            .unit = pattern[number].unit,
                            .higher_is_better = pattern[number].higher_is_better,
                            .value = interval_of(outcome, Side::head, number),
                            .base = interval_of(outcome, Side::base, number),
                            .speed_ratio = ratio_of(outcome, number)});
  }
}

void add_conclusions(Gate& gate, const AbOutcome& outcome, AbMetric asked) {
  const auto& pattern = outcome.runs.front().result.metrics;
  for (std::size_t number = 0, judged = 0; number < pattern.size(); ++number) {
    if (!pattern[number].judged) continue;
    GateMetric& metric = gate.metrics[number];
    metric.conclusion = outcome.judged[judged];
    metric.reason = reason_of(gate, outcome, judged, asked);
    ++judged;
  }
}

/// The planted loss takes the place of the conclusions.
void require_found(Gate& gate, double planted, AbMetric asked) {
  const auto judged = std::max_element(
      gate.metrics.begin(), gate.metrics.end(),
      [](const GateMetric& a, const GateMetric& b) { return a.conclusion < b.conclusion; });
  const bool found = judged->conclusion == Conclusion::slower;
  const bool passed = judged->conclusion == Conclusion::pass;
  GateRequirement requirement{.text = "a planted loss of " + format_percent(planted) + " is found",
                              .metric = judged->name,
                              .value = judged->value,
                              .fulfilment = found    ? Fulfilment::met
                                            : passed ? Fulfilment::not_met
                                                     : Fulfilment::inconclusive};
  if (passed) requirement.reason = "The slowed runs passed: " + longer(asked) + ".";
  if (!found && !passed) requirement.reason = judged->reason;
  gate.requirements.push_back(requirement);
  for (GateMetric& metric : gate.metrics) {
    metric.conclusion.reset();
    metric.reason.clear();
  }
}

/// The rate over the rate of the faster step of both configs; empty for commands.
std::optional<GateMetric> utilization_of(const Gate& gate) {
  const auto find = [&](std::string_view name) {
    return std::find_if(gate.metrics.begin(), gate.metrics.end(),
                        [&](const GateMetric& one) { return one.name == name; });
  };
  const auto step = find("device_samples_per_s"), rate = find("samples_per_s");
  if (step == gate.metrics.end() || rate == gate.metrics.end()) return std::nullopt;
  const double best = std::max(step->value.estimate, step->base->estimate);
  const Interval& value = rate->value;
  return measured_metric({"utilization", "1"},
                         {value.estimate / best, value.low / best, value.high / best});
}

/// Of HEAD.
void add_requirements(Gate& gate, const AbRequest& request) {
  std::vector<GateMetric> metrics = gate.metrics;
  if (const auto utilization = utilization_of(gate)) metrics.push_back(*utilization);
  for (GateRequirement& one : judged(request.gate.requirements, metrics, "Of HEAD.")) {
    gate.requirements.push_back(std::move(one));
  }
}

void add_runs(Gate& gate, const AbOutcome& outcome) {
  for (const AbRun& run : outcome.runs) {
    GateRun told{.side = run.side == Side::base ? "base" : "head",
                 .block = run.block,
                 .others_share = run.result.others_share};
    for (const ProgramMetric& metric : run.result.metrics) told.values.push_back(metric.value);
    gate.runs.push_back(std::move(told));
  }
}

std::string blocks_note(const AbOutcome& outcome) {
  std::string text = std::to_string(outcome.blocks) + (outcome.blocks == 1 ? " block" : " blocks") +
                     " of four runs";
  if (outcome.disturbed > 0) {
    text += "; " + std::to_string(outcome.disturbed) +
            (outcome.disturbed == 1 ? " more was" : " more were") + " disturbed, and left out";
  }
  if (outcome.all_count) text += "; other processes disturbed most of them, so all count";
  return text + ".";
}

}  // namespace

void add_outcome(Gate& gate, const AbRequest& request, const AbOutcome& outcome) {
  gate.limits = request.options.limits;
  gate.notes.push_back(blocks_note(outcome));
  add_metrics(gate, outcome);
  add_conclusions(gate, outcome, request.metric);
  add_runs(gate, outcome);
  if (request.plant) require_found(gate, *request.plant, request.metric);
  add_requirements(gate, request);
}

}  // namespace feedrate
