// SPDX-License-Identifier: Apache-2.0
// A copy of a folder, in which a command may write what it likes.
#pragma once

#include <string>
#include <vector>

namespace feedrate {

/// A copy of the folder in which a command is to run. It lies beside that folder, so that paths
/// such as ../data lead to the same place. It is removed with this object.
///
/// Regular files are copied with their modes and times of change. Together they may hold 4 GiB, and
/// there may be 100,000 entries. Links lead to what they led to; those into the folder lead into
/// the copy. A `.git` and virtual environments are linked. Sockets, pipes and devices are left out.
class FolderCopy {
 public:
  /// `folder`: empty means here. Throws Error(usage) where it holds too much, can't be read, or
  /// nothing can be written beside it; Error(internal) where the disk is full or fails.
  explicit FolderCopy(const std::string& folder);
  FolderCopy(const FolderCopy&) = delete;
  FolderCopy& operator=(const FolderCopy&) = delete;
  ~FolderCopy();

  const std::string& path() const noexcept { return copy_; }               ///< absolute
  const std::string& original() const noexcept { return names_.front(); }  ///< without links

  /// A text, such as an argument, in which whole paths of the folder, and into it, lead into the
  /// copy.
  std::string moved(std::string text) const;

 private:
  std::vector<std::string> names_;  ///< paths of the folder
  std::string copy_;
};

/// A text, such as output, in which paths into a copy lead into the original.
std::string originals_in(std::string text, const std::string& copy, const std::string& original);

}  // namespace feedrate
