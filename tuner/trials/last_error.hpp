// SPDX-License-Identifier: Apache-2.0
// What ended a Python script, by the last lines that it printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace feedrate {

/// The lines of a text that are not empty.
std::vector<std::string_view> lines_of(std::string_view text);

/// Of the lines that several ranks printed, those of the rank that failed first; empty where none
/// failed, or there is one process.
std::string lines_of_failed_rank(std::string_view text);

/// The last exception that Python printed, with the innermost line of the user's own files:
/// "ValueError: loss is nan (train.py:12)". Of several ranks, that of the first which failed. The
/// last line if there is no exception. Short and printable.
std::string last_error(const std::string& lines);

/// Whether the script asked for more memory than the host or the GPU has, by its last lines.
bool tells_of_memory(const std::string& lines);

}  // namespace feedrate
