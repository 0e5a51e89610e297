// SPDX-License-Identifier: Apache-2.0
// The command line of the verb `check`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/gate_output.hpp"

namespace feedrate {

inline constexpr const char* check_purpose =
    "Measure the recommended config of an earlier report again, and say whether it became slower.";

struct CheckOptions {
  std::string baseline;
  std::string data;  ///< where the data of --data lie today; empty: where they lay
  double budget_s = 30;
  LossLimits limits;
  bool update = false;
  std::string reason;
  GateRequest gate;
  GatePrinting printing;
  std::string command_line;
};

/// Empty where the help was asked for, and printed. Throws Error(usage) on invalid options.
std::optional<CheckOptions> parse_check(const std::vector<std::string>& words);

}  // namespace feedrate
