// SPDX-License-Identifier: Apache-2.0
// An emulation in words: could this host feed that accelerator, how many, and what would have to
// change.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/report/text/format.hpp"
#include "feedrate/tune/diagnose/emulation.hpp"

namespace feedrate::inline v0 {
namespace detail {

inline std::string accelerator_text(const Accelerator& accelerator) {
  return "emulated " + accelerator.name + ": a step of " + std::to_string(accelerator.batch) +
         " samples takes " + format_duration(accelerator.step_s) + " (" + accelerator.source +
         ") and computes nothing.";
}

inline std::string use_text(const AcceleratorUse& use, const Accelerator& accelerator) {
  const bool bounded = std::isfinite(use.utilization.relative_error());
  const double half = (use.utilization.high - use.utilization.low) / 2;
  const std::string error = bounded ? " ±" + fixed(100 * half, 1) : "";
  double percent = 100 * use.utilization.estimate;
  if (percent < 100 * accelerator.wanted) percent = std::floor(10 * percent) / 10;
  return "utilization " + fixed(percent, 1) + error + " %, " +
         (use.reaches(accelerator.wanted) ? "reaches" : "below") + " the " +
         format_percent(accelerator.wanted) + " wanted";
}

/// "1 worker", "4 workers".
inline std::string worker_count(int workers) {
  if (workers == 0) return "the caller alone";
  return std::to_string(workers) + (workers == 1 ? " worker" : " workers");
}

/// How many could be fed, no more than can: whole ones, and below ten also the part of another.
inline std::string fed_text(const Emulation& emulation) {
  const double all = emulation.accelerators_fed(), parts = all < 10 ? 100 : 1;
  const double fed = std::floor(all * parts) / parts;
  return "One accelerator needs " + format_number(emulation.accelerator.demand_samples_per_s(), 4) +
         " samples/s. The loader alone reaches " +
         format_number(emulation.loader_samples_per_s, 4) + " with " +
         worker_count(emulation.loader_workers) + ", enough for " + fixed(fed, fed < 10 ? 2 : 0) +
         " accelerators at " + format_percent(emulation.accelerator.wanted) + " utilization.";
}

/// What would have to change; empty where one is fed.
inline std::string change_text(const Emulation& emulation) {
  if (emulation.speedup_needed() <= 1) return {};
  const double enough = std::ceil(100 * emulation.speedup_needed()) / 100;
  std::string text = "To feed one, the loader must be " + fixed(enough, 2) + "x as fast";
  if (emulation.sample_cpu_s > 0) {
    text += ": a sample may take " + format_duration(emulation.sample_cpu_allowed_s()) +
            " of CPU time, but takes " + format_duration(emulation.sample_cpu_s);
  }
  return text + ".";
}

/// The benchmark's samples are not those that were read here.
inline std::string sample_text(const Accelerator& accelerator) {
  if (accelerator.sample_bytes == 0) return {};
  return "The benchmark's own samples take " + format_bytes(accelerator.sample_bytes) +
         " each on storage; this run read other samples.";
}

}  // namespace detail

/// The emulation as sentences, one for each line of the screen's block EMUL.
inline std::vector<std::string> emulation_lines(const Emulation& emulation) {
  std::vector<std::string> lines = {detail::accelerator_text(emulation.accelerator)};
  const auto add = [&](const char* label, const std::optional<AcceleratorUse>& use) {
    if (use) lines.push_back(label + detail::use_text(*use, emulation.accelerator) + ".");
  };
  add("now: ", emulation.reference);
  if (emulation.recommended &&
      !(emulation.reference && emulation.reference->config == emulation.recommended->config)) {
    add("recommended: ", emulation.recommended);
  }
  if (emulation.loader_samples_per_s > 0) {
    lines.push_back(detail::fed_text(emulation));
    lines.push_back(detail::change_text(emulation));
  }
  lines.push_back(detail::sample_text(emulation.accelerator));
  std::erase(lines, std::string());
  return lines;
}

/// The same as a block of text of `width` columns, indented by `indent`, each line ended.
inline std::string emulation_text(const Emulation& emulation, std::size_t indent = 6,
                                  std::size_t width = 80) {
  std::string text, label = "EMUL";
  for (const std::string& line : emulation_lines(emulation)) {
    text += labelled(std::exchange(label, ""), line, indent, width);
  }
  return text;
}

}  // namespace feedrate::inline v0
