// SPDX-License-Identifier: Apache-2.0
// Applies the change of a report to the user's files, as `git apply` would, and keeps what they
// were.
#pragma once

#include <string>
#include <vector>

#include "feedrate/report/report.hpp"
#include "request/request.hpp"
#include "screen/replaced_files.hpp"

namespace feedrate {

/// The files that a unified diff changes, below `root`. Every line that it keeps or removes has to
/// be where it says. Throws Error(data) where one is not, or a file can't be read.
std::vector<PatchedFile> patched_files(const std::string& patch, const std::string& root);

/// Those of a report: its names are told from the repository of the script, or a folder above it.
/// Throws Error(data) where the files are no longer what was tuned.
std::vector<PatchedFile> patched_files(const Report& report);

/// Throws Error(usage) where a question would reach nobody, and `yes` does not answer it.
void require_somebody_to_ask(bool yes);

/// Shows the change of a report and applies it, after asking unless `yes`. Throws as patched_files
/// and replace_files, and Error(usage) where the run was interrupted: its change is not confirmed.
void apply_change(const Report& report, bool yes);

/// --patch and --apply of a run. Throws Error(usage) before anything is measured, where they could
/// not be obeyed at its end.
void require_change_can_be_made(const TuneRequest& request);

/// The same of --apply, once the file is known in which the script makes its loader.
void require_change_of(const std::string& script, const CommandRequest& command);

/// Writes the patch, and changes the script unless the run was interrupted.
void make_change(const Report& report, const CommandRequest& command);

}  // namespace feedrate
