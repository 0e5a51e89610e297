// SPDX-License-Identifier: Apache-2.0
// A choice in words: the settings that it stands for, and what memory buys.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "feedrate/report/text/format.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0::detail {

/// "1.30x (1.20 to 1.40)".
inline std::string speedup_text(const Interval& speedup) {
  const std::string text = format_number(speedup.estimate) + "x";
  if (!std::isfinite(speedup.high)) return text;
  return text + " (" + format_number(speedup.low) + " to " + format_number(speedup.high) + ")";
}

/// "970/s with 1.2 MiB, 1,410/s with 3.1 MiB": some points of the front, least memory first.
inline std::string pareto_text(const Outcome& outcome) {
  constexpr std::size_t most = 4;
  const auto& front = outcome.pareto;
  const std::size_t shown = std::min(front.size(), most);
  std::string text;
  for (std::size_t p = 0; p < shown; ++p) {
    const Trial& trial = outcome.trials[front[p * (front.size() - 1) / (shown - 1)]];
    text += (p > 0 ? ", " : "") + format_number(trial.samples_per_s().estimate) + "/s with " +
            format_bytes(trial.memory_bytes);
  }
  return text + ".";
}

/// "workers 2, prefetch 4, precision fp32": the axes in which the configs of this space differ;
/// empty where there is one config. Of `alike_with`, those that both share.
inline std::string config_text(const Outcome& outcome, const Config& config,
                               const Config* alike_with = nullptr) {
  std::string text;
  for_each_axis([&](const auto& axis) {
    const auto value = config.*axis.field;
    if (alike_with && alike_with->*axis.field != value) return;
    const auto same = [&](const Trial& trial) { return trial.config.*axis.field == value; };
    const bool alike = std::all_of(outcome.trials.begin(), outcome.trials.end(), same);
    if (alike && !(axis.name == "accumulate" && config.accumulate > 1)) return;
    text += (text.empty() ? "" : ", ") + std::string(axis.name) + " " + value_text(value);
  });
  return text;
}

}  // namespace feedrate::inline v0::detail
