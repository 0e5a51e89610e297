// SPDX-License-Identifier: Apache-2.0
// The flags of verbs that judge, in the group "Gate" of the help.
#pragma once

#include <string>
#include <vector>

#include "request/request.hpp"
#include "values/requirement.hpp"

namespace feedrate {

/// Adds --require, which may be repeated and names one of `kinds`, --undecided and --write. Reading
/// them throws Error(usage) on a format or metric that is not known, and where two documents would
/// go to standard output.
void add_gate(CLI::App& app, GateRequest& gate, std::vector<MetricKind> kinds);

/// Throws Error(usage) where more than one document goes to standard output.
void refuse_two_documents(const GateRequest& gate, bool prints_json);

/// "10%" as 0.1. Throws Error(usage) on what is no loss between 0% and 100%.
double parse_loss(const char* flag, const std::string& text);

/// Adds --max-loss and --tolerate.
void add_loss_limits(CLI::App& app, LossLimits& limits);

/// Throws Error(usage) where no verdict lies between the two.
void check_loss_limits(const LossLimits& limits);

}  // namespace feedrate
