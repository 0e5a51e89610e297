// SPDX-License-Identifier: Apache-2.0
// What waiting for data costs, in words.
#pragma once

#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include "feedrate/report/report.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// "1.23", and "0.0042" where two decimals would say nothing.
inline std::string amount(double value) {
  std::array<char, 64> text{};
  const int decimals = value != 0 && value < 0.1 ? 4 : 2;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

/// Samples of an epoch; 0: unknown. A script's sampler may draw more or fewer than its dataset has.
inline double samples_of_epoch(const WorkloadInfo& workload) {
  const auto samples = static_cast<double>(workload.samples);
  if (!workload.script || workload.script->batches == 0) return samples;
  if (!workload.script->batch_fixed.empty()) return samples;  // its batches differ in size
  const Script& script = *workload.script;
  const double step = static_cast<double>(script.config.batch) * script.world;
  const double drawn = static_cast<double>(script.batches) * step;
  const bool ends_in_last_batch = drawn >= samples && drawn - samples < step;
  return ends_in_last_batch ? samples : drawn;
}

}  // namespace detail

/// Of the config that the user has now, and of what is recommended.
inline WaitingCosts waiting_costs(const Report& report) {
  const Outcome& outcome = report.outcome;
  const Trial& now = outcome.trials[outcome.reference];
  std::optional<double> waiting = now.waiting(), epoch_s;
  if (const double samples = detail::samples_of_epoch(report.workload);
      samples > 0 && !now.rounds.empty()) {
    epoch_s = samples / now.samples_per_s().estimate;
  }
  const double gain = outcome.tiers.empty() ? 1 : proven_speedup(report).estimate;
  return waiting_costs(report.price.value_or(Price{}), waiting, epoch_s, gain);
}

/// "At 3.50 EUR/h, waiting for data costs 42.00 a day and 1.20 an epoch. The change saves 60.10 a
/// day." Empty without a price.
inline std::string price_text(const Report& report) {
  if (!report.price) return {};
  const WaitingCosts costs = waiting_costs(report);
  const std::string unit = report.price->currency.empty() ? "" : " " + report.price->currency;
  std::string text = "At " + detail::amount(report.price->per_hour) + unit + "/h, ";
  if (costs.per_day) {
    text += "waiting for data costs " + detail::amount(*costs.per_day) + " a day";
    if (costs.per_epoch) text += " and " + detail::amount(*costs.per_epoch) + " an epoch";
  } else {
    text += "what waiting for data costs is unknown";
  }
  const double saved = costs.saved_per_day.value_or(0);
  if (saved < 0) return text + ". The change costs " + detail::amount(-saved) + " more a day.";
  return text + (saved > 0 ? ". The change saves " + detail::amount(saved) + " a day." : ".");
}

}  // namespace feedrate::inline v0
