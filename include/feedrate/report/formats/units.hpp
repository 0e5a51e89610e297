// SPDX-License-Identifier: Apache-2.0
// What a metric's unit measures: a time, a rate, or neither.
#pragma once

#include <string_view>

namespace feedrate::inline v0 {

/// Seconds in one unit of time; 0 where it is none.
constexpr double seconds_in(std::string_view unit) noexcept {
  return unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : unit == "ns" ? 1e-9 : 0;
}

/// Something per second.
constexpr bool is_rate(std::string_view unit) noexcept {
  return unit.ends_with("/s");
}

}  // namespace feedrate::inline v0
