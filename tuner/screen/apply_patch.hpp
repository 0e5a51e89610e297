// SPDX-License-Identifier: Apache-2.0
// Applies the change of a report to the user's files, as `git apply` would, and keeps what they
// were.
#pragma once

#include <string>
#include <vector>

#include "feedrate/report/report.hpp"
#include "request/request.hpp"

namespace feedrate {

/// A file as it is, and as the patch makes it.
struct PatchedFile {
  std::string path;
  std::string before;
  std::string after;
};

/// The files that a unified diff changes, below `root`. Every line that it keeps or removes has to
/// be where it says. Throws Error(data) where one is not, or a file can't be read.
std::vector<PatchedFile> patched_files(const std::string& patch, const std::string& root);

/// Those of a report: its names are told from the repository of the script, or a folder above it.
/// Throws Error(data) where the files are no longer what was tuned.
std::vector<PatchedFile> patched_files(const Report& report);

/// Keeps each file as FILE.orig and replaces it, with its mode; links stay links. Throws
/// Error(usage) where another FILE.orig is there, and Error(data) where a file was changed since it
/// was read, before anything is changed. Ctrl-C waits until all files are replaced.
void replace_files(const std::vector<PatchedFile>& files);

/// Throws Error(usage) where a question would reach nobody, and `yes` does not answer it.
void require_somebody_to_ask(bool yes);

/// Shows the change of a report and applies it, after asking unless `yes`. Throws as patched_files
/// and replace_files, and Error(usage) where the run was interrupted: its change is not confirmed.
void apply_change(const Report& report, bool yes);

/// --patch and --apply of a run. Throws Error(usage) before anything is measured, where they could
/// not be obeyed at its end.
void require_change_can_be_made(const TuneRequest& request);

/// Writes the patch, and changes the script unless the run was interrupted.
void make_change(const Report& report, const CommandRequest& command);

}  // namespace feedrate
