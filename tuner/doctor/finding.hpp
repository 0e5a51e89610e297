// SPDX-License-Identifier: Apache-2.0
// A finding: one thing that was checked, its state, and how to fix it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace feedrate {

/// Severity, in rising order.
enum class Status : std::uint8_t {
  ok,
  note,     ///< nothing to fix, but good to know
  warning,  ///< costs speed, or will under some loads
  problem,  ///< the tuner cannot work
};

inline constexpr std::array<std::string_view, 4> status_names = {"ok", "note", "warning",
                                                                 "problem"};

constexpr std::string_view name_of(Status status) noexcept {
  return status_names[static_cast<std::size_t>(status)];
}

/// One line of the doctor's answer.
struct Finding {
  std::string name;  ///< "cpus", "memory", ...
  Status status = Status::ok;
  std::string seen;  ///< what was found, a phrase
  std::string mend;  ///< a sentence that says what to do; empty where there is nothing to do
};

}  // namespace feedrate
