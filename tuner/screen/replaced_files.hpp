// SPDX-License-Identifier: Apache-2.0
// Replaces files of the user's, all or none, and keeps what they were.
#pragma once

#include <string>
#include <vector>

namespace feedrate {

/// A file as it is, and as a patch makes it.
struct PatchedFile {
  std::string path;
  std::string before;
  std::string after;
};

/// All bytes of a file. Throws Error(data) where it can't be read.
std::string content_of(const std::string& path);

/// Throws Error(usage) where `path`.orig is there, and is something else than the file: it would be
/// lost.
void require_no_other_original(const std::string& path, const std::string& content);

/// Keeps each file as FILE.orig and replaces it, with its mode; links stay links. Throws
/// Error(usage) where another FILE.orig is there, and Error(data) where a file was changed since it
/// was read or one can't be written: then all are as they were, as far as they can be put back.
/// Ctrl-C waits until all files are replaced.
void replace_files(const std::vector<PatchedFile>& files);

}  // namespace feedrate
