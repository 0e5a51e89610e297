// SPDX-License-Identifier: Apache-2.0
// The file for --patch: the recommended change of a script, as `git apply` takes it. Without a name
// there is none.
#pragma once

#include <string>

#include "feedrate/report/report.hpp"

namespace feedrate {

/// Throws Error(usage) where no patch can be written to the file, and where something else than a
/// patch is in it. To be called before anything is measured.
void require_patch_file(const std::string& file);

/// Replaces the file; an empty one means that no file of the script's is to be changed. Throws
/// Error(internal) where that fails.
void write_patch(const Report& report, const std::string& file);

/// The patch of a report; empty where it changes no file.
std::string patch_of(const Report& report);

}  // namespace feedrate
