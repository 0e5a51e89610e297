// SPDX-License-Identifier: Apache-2.0
// Shared by the sentences on causes: rates, factors and settings.
#pragma once

#include <cmath>
#include <string>

#include "feedrate/core/axes.hpp"
#include "feedrate/report/sentences.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/tune/state/diagnosis.hpp"

namespace feedrate::inline v0 {
namespace cause_words {

inline bool known(double number) noexcept {
  return std::isfinite(number);
}

/// "1,440 samples/s".
inline std::string rate(double samples_per_s) {
  return format_number(samples_per_s) + " samples/s";
}

/// "2.31x".
inline std::string factor(double ratio) {
  return format_number(ratio) + "x";
}

/// "2", "1.5", "2.25", "10,000": no decimals where there are none.
inline std::string count_text(double count) {
  return grouped(count == std::round(count) ? fixed(count, 0) : one_or_two_decimals(count));
}

/// "1 core", "1.5 cores", "4 workers".
inline std::string counted(double count, const std::string& what) {
  return count_text(count) + " " + what + (count == 1 ? "" : "s");
}

/// The axes in which `to` differs, with its values: "workers 4, prefetch 2".
inline std::string settings(const Config& from, const Config& to) {
  std::string text;
  for_each_axis([&](const auto& axis) {
    if (from.*axis.field == to.*axis.field) return;
    text += (text.empty() ? "" : ", ") + std::string(axis.name) + " " + value_text(to.*axis.field);
  });
  return text;
}

/// The same of a diagnosis whose remedy is a config.
inline std::string settings(const Diagnosis& diagnosis, const Config& now) {
  return diagnosis.remedy ? settings(now, *diagnosis.remedy) : std::string();
}

/// "Loading a sample takes 2.00 ms, 1.00 ms of it computing."; empty where that is unknown.
inline std::string load_time(const CauseNumbers& numbers) {
  if (!known(numbers.load_s)) return {};
  const bool computes = numbers.load_cpu_s > 0.95 * numbers.load_s;
  return "Loading a sample takes " + format_duration(numbers.load_s) + ", " +
         (computes ? "all" : format_duration(numbers.load_cpu_s)) + " of it computing.";
}

/// The loader against the device, each alone; without workers, what loading takes of the caller.
inline std::string loader_against_device(const CauseNumbers& numbers, const Config& now) {
  if (now.workers == 0) {
    return "Loading takes " + format_duration(1 / numbers.loader_samples_per_s) +
           " per sample, the step " + format_duration(1 / numbers.device_samples_per_s) + ".";
  }
  return "The loader alone reaches " + rate(numbers.loader_samples_per_s) + " with " +
         counted(now.workers, "worker") + ", the device " +
         format_number(numbers.device_samples_per_s) + ".";
}

/// "Decoding takes 71 % of the time to load a sample."; empty where the parts are unknown.
inline std::string part_of_loading(const std::string& part, const CauseNumbers& numbers) {
  if (!known(numbers.part_share)) return {};
  return part + " takes " + format_percent(numbers.part_share) + " of the time to load a sample.";
}

}  // namespace cause_words
}  // namespace feedrate::inline v0
