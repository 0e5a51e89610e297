// SPDX-License-Identifier: Apache-2.0
// How diagnoses write shares, rates, times and settings.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

#include "feedrate/core/config.hpp"

namespace feedrate::causes {

inline std::string formatted(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// "42 %".
inline std::string percent(double share) {
  return formatted("%.0f %%", 100 * share);
}

/// "1440 samples/s"; four digits that mean something.
inline std::string rate(double samples_per_s) {
  return formatted(samples_per_s < 9999.5 ? "%.4g samples/s" : "%.0f samples/s", samples_per_s);
}

/// "1.5 ms", in the unit that suits.
inline std::string duration(double seconds) {
  if (seconds >= 1) return formatted("%.3g s", seconds);
  return seconds >= 1e-3 ? formatted("%.3g ms", seconds * 1e3)
                         : formatted("%.3g us", seconds * 1e6);
}

/// "1.5 times", "12 times".
inline std::string times(double factor) {
  return formatted(factor < 9.95 ? "%.1f times" : "%.0f times", factor);
}

/// "1 worker", "4 workers".
inline std::string workers(int count) {
  return std::to_string(count) + (count == 1 ? " worker" : " workers");
}

inline std::string cores(double count) {
  return formatted("%.3g", count) + (std::abs(count - 1) < 1e-9 ? " core" : " cores");
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

}  // namespace feedrate::causes
