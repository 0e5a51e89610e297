// SPDX-License-Identifier: Apache-2.0
// Where the figures of a file come from: commit, day and machine.
#pragma once

#include <ctime>
#include <string>

#include "feedrate/measure/machine.hpp"
#include "feedrate/report/machine_json.hpp"
#include "version.hpp"

namespace feedrate::bench {

/// The day in UTC, such as "2026-11-22".
inline std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

/// The keys that bench/peers/origin.py writes, too.
inline Json origin() {
  const Machine machine = read_machine("/");
  return {{"commit", commit},
          {"date", today()},
          {"machine",
           {{"cpu", machine.cpu_model},
            {"cpus", machine.limits.cpus.usable},
            {"system", "Linux-" + machine.kernel}}}};
}

}  // namespace feedrate::bench
