// SPDX-License-Identifier: Apache-2.0
// Reads the JSON that a Google Benchmark program writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ab/program.hpp"

namespace feedrate {

/// The real time of each benchmark in its own unit; of repetitions the geometric mean. Aggregates
/// are left out. `program` is what to call who wrote it. Throws Error(data) where it is cut, holds
/// no benchmark, or one that failed, and where a time is no positive number.
/// Source: google/benchmark, docs/user_guide.md, "Output Formats".
std::vector<ProgramMetric> parse_benchmarks(std::string_view text, const std::string& program);

/// The same of a file; Error(data) where it was not written.
std::vector<ProgramMetric> read_benchmarks(const std::string& path, const std::string& program);

}  // namespace feedrate
