// SPDX-License-Identifier: Apache-2.0
// How sure a recommendation is, and other phrases that many sentences share.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "feedrate/report/report.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// "; another config could be up to 2.0 % faster", where it could be by so much that it matters.
inline std::string open_gain_text(double gain_upper_bound, const std::string& faster) {
  if (!std::isfinite(gain_upper_bound) || gain_upper_bound < 0.005) return {};
  return "; another config could be up to " + format_percent(gain_upper_bound) + " " + faster;
}

/// "faster", or "better by mfu": what a config is that the objective prefers.
inline std::string better_by(std::string_view objective) {
  if (objective == "utilization" || objective == "throughput") return "faster";
  return "better by " + std::string(objective);
}

/// "1 config", "12 configs".
inline std::string counted(std::size_t count, const std::string& what) {
  return format_count(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace detail

/// "cpu", or "NVIDIA H200 (cuda:0)": a GPU by its name.
inline std::string device_text(const Report& report) {
  constexpr std::string_view cuda = "cuda:";
  if (!report.device.starts_with(cuda)) return report.device;
  const auto index = parse_count(std::string_view(report.device).substr(cuda.size()));
  const auto& gpus = report.machine.gpus.list;
  if (!index || *index >= gpus.size()) return report.device;
  return gpus[*index].name + " (" + report.device + ")";
}

/// "multiprocessors 62 %, tensor cores 18 %, memory 41 %": those that are known.
inline std::string activity_text(const GpuActivity& gpm) {
  std::string text;
  const auto add = [&](const char* part, double share) {
    if (share < 0) return;
    text += (text.empty() ? "" : ", ") + std::string(part) + " " + format_percent(share);
  };
  add("multiprocessors", gpm.sm);
  add("tensor cores", gpm.tensor);
  add("memory", gpm.dram);
  return text;
}

/// Whether no config was measured beside the reference, though some are left to measure.
inline bool is_alone(const Outcome& outcome) {
  const auto& trials = outcome.trials;
  const auto ran = [](const Trial& trial) { return !trial.rounds.empty(); };
  const auto is_left = [](const Trial& trial) {
    return trial.status == TrialStatus::not_reached || trial.status == TrialStatus::predicted;
  };
  return std::count_if(trials.begin(), trials.end(), ran) == ran(trials[outcome.reference]) &&
         std::any_of(trials.begin(), trials.end(), is_left);
}

/// How sure a choice is, as a phrase. A change was proven faster than what the user has, or better
/// by the objective; the phrase compares it with the other configs.
inline std::string describe(const TierChoice& choice, std::string_view objective) {
  const std::string faster = detail::better_by(objective);
  const std::string open = detail::open_gain_text(choice.gain_upper_bound, faster);
  switch (choice.standing) {
    case Confidence::keep_current:
      return "no other config was proven " + faster + open;
    case Confidence::not_confirmed:
      return "fresh processes did not confirm a gain";
    case Confidence::tied:
      return "the cheapest of " + std::to_string(choice.tie_set.size()) + " equally " +
             (faster == "faster" ? "fast" : "good") + " configs" + open;
    case Confidence::unresolved:
      return (choice.promising
                  ? "inconclusive: "
                  : "its lead over the other configs tried is not significant" + open + "; ") +
             "raise --budget or use an idle machine";
    case Confidence::close:
      return "its lead over the other finalists is not significant" + open;
    case Confidence::resolved:
      break;
  }
  return "significantly " + faster + " than each other finalist";
}

}  // namespace feedrate::inline v0
