// SPDX-License-Identifier: Apache-2.0
// The origin of the figures in a file: commit, day and machine.
#pragma once

#include "feedrate/core/clock.hpp"
#include "feedrate/machine/machine.hpp"
#include "feedrate/report/json/machine_json.hpp"
#include "request/version.hpp"

namespace feedrate::bench {

/// The keys that bench/peers/origin.py writes, too.
inline Json origin() {
  const Machine machine = read_machine("/");
  return {{"commit", commit},
          {"date", now_utc().substr(0, 10)},
          {"machine",
           {{"cpu", machine.cpu_model},
            {"cpus", machine.limits.cpus.usable},
            {"system", "Linux-" + machine.kernel}}}};
}

}  // namespace feedrate::bench
