// SPDX-License-Identifier: Apache-2.0
// The Python files of autotune, embedded in the command.
#pragma once

#include <string>

namespace feedrate {

/// Writes the modules below `folder`, which is there: put it first in PYTHONPATH. Throws
/// Error(internal) where one can't be written.
void write_python_files(const std::string& folder);

}  // namespace feedrate
