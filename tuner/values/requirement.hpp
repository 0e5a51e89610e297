// SPDX-License-Identifier: Apache-2.0
// --require 'fed >= 0.90': a metric, a sign and a bound.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "feedrate/report/requirement.hpp"

namespace feedrate {

/// Reads "METRIC SIGN BOUND", where the sign is >=, >, <= or <, and the bound has a unit that fits:
/// 0.9 or 90%, 2GiB, 500ms, 12k, 1.5GB/s. Throws Error(usage) on anything else, and on a metric
/// that is none of `kinds`.
Requirement parse_requirement(const std::string& text, std::span<const MetricKind> kinds);

/// The kinds of a table whose entries are kinds and more.
template <class Table>
std::vector<MetricKind> kinds_in(const Table& table) {
  return {table.begin(), table.end()};
}

}  // namespace feedrate
