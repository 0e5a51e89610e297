// SPDX-License-Identifier: Apache-2.0
// The Python side of autotune, which the command carries with it.
#pragma once

#include <string>

namespace feedrate {

/// Writes the modules below `folder`, which is there: put it first in PYTHONPATH. Throws
/// Error(internal) where one can't be written.
void write_python_files(const std::string& folder);

}  // namespace feedrate
