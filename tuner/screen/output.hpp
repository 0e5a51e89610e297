// SPDX-License-Identifier: Apache-2.0
// Where results go: standard output, and files that are complete or absent.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/report.hpp"

namespace feedrate {

/// Where the file of an option is, links followed; "-" stays. Throws Error(usage) when no file can
/// be written there.
std::string writable_path(const std::string& flag, const std::string& file);

/// Throws Error(usage) where the file of an option is one that is read.
void require_other_file(const std::string& flag, const std::string& file, const std::string& input);

/// Throws Error(usage) where the file at `path` is neither empty nor begins as every `kind` of ours
/// does: it is somebody else's. White space does not count, and '*' is any JSON string, of which
/// there may be none. "-" and no file pass.
void require_replaceable(const std::string& flag, const std::string& path, std::string_view begins,
                         std::string_view kind);

/// A file that is written because an option names it.
struct NamedFile {
  std::string flag;
  std::string path;  ///< "-" and no file pass all checks
};

/// Throws Error(usage) where two of them are one: the second would replace the first.
void require_different(const std::vector<NamedFile>& files);

/// Throws Error(usage): the file at `path` is there, and is no `kind`.
[[noreturn]] void throw_would_be_lost(const std::string& flag, const std::string& path,
                                      std::string_view kind);

/// Prints to standard output; a reader that has gone, as behind `| head`, wants no more. What a
/// terminal would obey, as in the name of a file, is left out there. Throws Error(internal) where
/// printing fails otherwise.
void print_out(const std::string& text);

/// Keeps the sentence of the first failure in `failure`: what else can be written is written.
template <class Work>
void attempt(std::string& failure, const Work& work) try {
  work();
} catch (const Error& error) {
  if (failure.empty()) failure = error.what();
}

/// Prints to standard error, likewise.
void print_error(const std::string& text);

/// Asks at the terminal; anything but y and yes is no. Nothing may be left to write: Ctrl-C ends
/// the program with exit code 130, and says that nothing was changed.
bool is_agreed(const std::string& question);

/// The report's file.
class ReportFile {
 public:
  /// `file` as --output gives it; empty: named after the workload. Throws Error(usage) when the
  /// place can't be written to, or holds something else than a report.
  ReportFile(const std::string& file, const std::string& workload);

  /// Replaces the file by this report; does nothing where it goes to standard output. Only its user
  /// can read the report of a command. Throws Error(internal) when writing fails, as on a full
  /// disk; the file is then as it was.
  void write(const Report& report);
  /// The same, at most once a second, and silent about failures: the last write tells.
  void save(const std::function<const Report&()>& make);

  bool is_standard_output() const noexcept { return path_ == "-"; }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  double last_s_ = -1;
};

}  // namespace feedrate
