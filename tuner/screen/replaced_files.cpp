// SPDX-License-Identifier: Apache-2.0
#include "screen/replaced_files.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "feedrate/core/error.hpp"
#include "feedrate/data/file.hpp"
#include "feedrate/data/file_writer.hpp"
#include "process/signals.hpp"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

void write_content(const std::string& path, const std::string& text, const struct stat& like) {
  write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, 0600, &like);
}

/// Somebody may have written to it while the question stood.
void require_unchanged(const PatchedFile& file) {
  if (content_of(file.path) == file.before) return;
  throw Error(Fault::data, "'" + file.path + "' was changed meanwhile: run autotune apply again.");
}

/// A file that is being replaced.
class Replacement {
 public:
  explicit Replacement(const PatchedFile& file)
      : file_(file), path_(fs::canonical(file.path).string()), original_(file.path + ".orig") {
    if (::stat(path_.c_str(), &was_) != 0) throw fs::filesystem_error("stat", path_, {});
    had_original_ = fs::exists(original_);
  }

  void keep() { write_content(original_, file_.before, was_); }
  void replace() {
    write_content(path_, file_.after, was_);
    is_replaced_ = true;
  }
  /// What can't be put back stays as FILE.orig.
  void undo() noexcept {
    try {
      if (is_replaced_) write_content(path_, file_.before, was_);
      if (!had_original_) fs::remove(original_);
    } catch (const std::exception&) {
    }
  }

 private:
  const PatchedFile& file_;
  std::string path_, original_;
  struct stat was_ {};
  bool had_original_ = false, is_replaced_ = false;
};

}  // namespace

std::string content_of(const std::string& path) {
  std::vector<std::uint8_t> buffer;
  const auto bytes = read_file(path, buffer);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void require_no_other_original(const std::string& path, const std::string& content) {
  const fs::path original = path + ".orig";
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(original, ignored))) return;
  if (fs::is_regular_file(original, ignored) && content_of(original) == content) return;
  throw Error(Fault::usage, "'" + original.string() +
                                "' is there already, with other content: move it away, so that it "
                                "is not lost.");
}

void replace_files(const std::vector<PatchedFile>& files) {
  const SignalsWait whole;
  for (const PatchedFile& file : files) {
    require_no_other_original(file.path, file.before);
    require_unchanged(file);
  }
  std::vector<Replacement> replacements(files.begin(), files.end());
  try {
    for (Replacement& one : replacements) one.keep();
    for (Replacement& one : replacements) one.replace();
  } catch (...) {
    for (Replacement& one : replacements) one.undo();
    throw;
  }
}

}  // namespace feedrate
