// SPDX-License-Identifier: Apache-2.0
// The flags by which a run is judged: --require and --undecided.
#pragma once

#include <vector>

#include "request/request.hpp"
#include "values/requirement.hpp"

namespace feedrate {

/// Adds --require, which may be repeated and names one of `kinds`.
void add_require(CLI::App& app, std::vector<Requirement>& requirements,
                 std::vector<MetricKind> kinds);

/// Adds --undecided.
void add_undecided(CLI::App& app, Undecided& undecided);

/// Adds both.
void add_gate(CLI::App& app, GateRequest& gate, std::vector<MetricKind> kinds);

}  // namespace feedrate
