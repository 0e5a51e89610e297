// SPDX-License-Identifier: Apache-2.0
// What ended a Python script, by the last lines that it printed.
#pragma once

#include <string>

namespace feedrate {

/// "ValueError: loss is nan (train.py:12)": the last line that names an exception, as Python prints
/// one, and the innermost place of the traceback that is in no installed package. Without such a
/// line the last one. Short and printable.
std::string last_error(const std::string& lines);

/// Whether the lines tell that the script asked for more memory than there is, of the host or a
/// GPU.
bool tells_of_memory(const std::string& lines);

}  // namespace feedrate
