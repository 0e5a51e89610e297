// SPDX-License-Identifier: Apache-2.0
// Whether a command loses the hook on its way to Python.
#pragma once

#include <sys/types.h>

#include <string>

namespace feedrate {

/// How processes below `root` lose the hook whose modules lie in `folder`, and what to do: the end
/// of a sentence that begins with "The command". Empty where none of them runs PyTorch without the
/// hook, or one is a Python that has it. Throws Error(internal) where /proc can't be read.
std::string how_hook_is_lost(pid_t root, const std::string& folder);

}  // namespace feedrate
