// SPDX-License-Identifier: Apache-2.0
#include "process/folder_copy.hpp"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "feedrate/core/error.hpp"
#include "process/refusals.hpp"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;
constexpr int most_entries = 100'000;

/// The folder is the user's to change, a disk that is full or fails is not.
[[noreturn]] void throw_uncopied(const std::string& path, int error) {
  const bool fails = error == ENOSPC || error == EDQUOT || error == EIO || error == EMFILE;
  throw Error(fails ? Fault::internal : Fault::usage,
              "--keep-state can't copy the folder of the command: '" + path +
                  "': " + reason_of_system(error) + "; name another folder by --workdir.");
}

/// Large, and nothing that a training writes to.
bool is_linked(const fs::path& folder) {
  std::error_code ignored;
  return folder.filename() == ".git" || fs::exists(folder / "pyvenv.cfg", ignored) ||
         fs::exists(folder / "conda-meta", ignored);
}

/// More than one would wait for at each launch. What vanishes meanwhile holds nothing.
void require_little(const fs::path& top) {
  std::uint64_t bytes = 0;
  int entries = 0;
  std::error_code error, vanished;
  fs::recursive_directory_iterator entry(top, error);
  for (; !error && entry != fs::end(entry); entry.increment(error)) {
    const fs::file_status status = entry->symlink_status(vanished);
    if (fs::is_directory(status) && is_linked(entry->path())) entry.disable_recursion_pending();
    const std::uintmax_t size = fs::is_regular_file(status) ? entry->file_size(vanished) : 0;
    if (!vanished) bytes += size;
    if (bytes <= most_bytes && ++entries <= most_entries) continue;
    throw Error(Fault::usage, "--keep-state copies the folder of the command, and '" +
                                  top.string() +
                                  "' holds more than 4 GiB or 100,000 files: move its data away "
                                  "and link it, or name a smaller folder by --workdir.");
  }
  if (error && error.value() != ENOENT) throw_uncopied(top.string(), error.value());
}

/// Copies all that is below one folder to below another one. What vanishes meanwhile is left out.
class Copying {
 public:
  Copying(fs::path from, fs::path to) : from_(std::move(from)), to_(std::move(to)) {}

  void run() { copy_folder(from_, to_); }

 private:
  void copy_folder(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::directory_iterator entry(from, error);
    for (; !error && entry != fs::end(entry); entry.increment(error)) copy_entry(*entry, to);
    if (error && error.value() != ENOENT) throw_uncopied(from.string(), error.value());
  }

  void copy_entry(const fs::directory_entry& entry, const fs::path& folder) {
    const fs::path target = folder / entry.path().filename();
    std::error_code vanished;
    const fs::file_status status = entry.symlink_status(vanished);
    if (fs::is_symlink(status)) {
      copy_link(entry.path(), target);
    } else if (fs::is_directory(status) && is_linked(entry.path())) {
      fs::create_directory_symlink(entry.path(), target);
    } else if (fs::is_directory(status)) {
      fs::create_directory(target);
      copy_folder(entry.path(), target);
      keep_marks(entry.path(), target);
    } else if (fs::is_regular_file(status)) {
      copy_file(entry.path(), target);
    }
  }

  void copy_link(const fs::path& from, const fs::path& to) {
    std::error_code error;
    const fs::path named = fs::read_symlink(from, error);
    if (error) return;
    const fs::path target = fs::weakly_canonical(from.parent_path() / named, error);
    const fs::path inside = target.lexically_relative(from_);
    const bool leads_out = error || inside.empty() || *inside.begin() == "..";
    fs::create_symlink(leads_out ? (from.parent_path() / named).lexically_normal() : to_ / inside,
                       to);
  }

  static void copy_file(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::copy_file(from, to, error);
    if (error == std::errc::no_such_file_or_directory) return;
    if (error) throw_uncopied(from.string(), error.value());
    keep_marks(from, to);
  }

  /// Mode and time of the last change. Below a folder that may not be written to nothing could be
  /// removed.
  static void keep_marks(const fs::path& from, const fs::path& to) {
    std::error_code vanished;
    const fs::file_status status = fs::status(from, vanished);
    if (vanished) return;
    const bool is_folder = fs::is_directory(status);
    fs::permissions(to,
                    status.permissions() | (is_folder ? fs::perms::owner_all : fs::perms::none));
    const fs::file_time_type time = fs::last_write_time(from, vanished);
    if (!vanished) fs::last_write_time(to, time);
  }

  fs::path from_, to_;
};

std::string folder_beside(const fs::path& folder) {
  const std::string name = "." + folder.filename().string() + ".autotune-XXXXXX";
  std::string path = (folder.parent_path() / name).string();
  if (::mkdtemp(path.data())) return path;
  throw_uncopied(folder.parent_path().string(), errno);
}

int allow_changes(const char* path, const struct stat* status, int type, struct FTW*) {
  if (type == FTW_D || type == FTW_DNR) ::chmod(path, (status->st_mode & 07777) | S_IRWXU);
  return 0;
}

int remove_entry(const char* path, const struct stat*, int, struct FTW*) {
  std::remove(path);
  return 0;
}

/// A command may have taken away its own right to write, which is given back. What it has mounted
/// there stays.
void remove_copy(const std::string& path) {
  constexpr int descriptors = 16, own = FTW_PHYS | FTW_MOUNT;
  ::nftw(path.c_str(), allow_changes, descriptors, own);
  ::nftw(path.c_str(), remove_entry, descriptors, own | FTW_DEPTH);
}

/// The paths by which a folder may be named: the real one, and that of the shell.
std::vector<std::string> paths_to(const std::string& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) throw_uncopied(folder, error.value());
  if (real == real.root_path()) {
    throw Error(Fault::usage, "--keep-state can't copy '/': name a smaller folder by --workdir.");
  }
  std::vector<std::string> names = {real.string()};
  const char* const shell = std::getenv("PWD");
  const fs::path here = shell && fs::equivalent(shell, ".", error) ? fs::path(shell) : "";
  const fs::path named = (folder.empty() ? here : here / folder).lexically_normal();
  std::string other = named.string();
  while (other.size() > 1 && other.back() == '/') other.pop_back();
  if (named.is_absolute() && other.size() > 1 && other != names.front()) names.push_back(other);
  return names;
}

/// Whether a character may be part of a path that goes on with it.
bool is_of_path(char c) {
  return std::string_view(":,;'\"()[]{}=<>| \t\n").find(c) == std::string_view::npos;
}

/// Whether a path may begin there: also behind "file://" or "sqlite:///", "@", or "-o".
bool begins_path(std::string_view text, std::size_t at) {
  if (at == 0 || !is_of_path(text[at - 1]) || text[at - 1] == '@') return true;
  const std::string_view before = text.substr(0, at);
  const std::size_t address = before.find_last_not_of('/');
  if (before.ends_with("//") && address != before.npos && before[address] == ':') return true;
  return at >= 2 && text[at - 2] == '-' && (at == 2 || !is_of_path(text[at - 3]));
}

}  // namespace

FolderCopy::FolderCopy(const std::string& folder) : names_(paths_to(folder)) {
  const fs::path top = names_.front();
  require_little(top);
  copy_ = folder_beside(top);
  try {
    Copying(top, copy_).run();
  } catch (const fs::filesystem_error& failed) {
    remove_copy(copy_);
    throw_uncopied(failed.path1().string(), failed.code().value());
  } catch (...) {
    remove_copy(copy_);
    throw;
  }
}

FolderCopy::~FolderCopy() {
  remove_copy(copy_);
}

std::string FolderCopy::moved(std::string text) const {
  for (const std::string& name : names_) {
    for (std::size_t at = 0; (at = text.find(name, at)) != text.npos;) {
      const std::size_t end = at + name.size();
      const bool begins = begins_path(text, at);
      const bool ends = end == text.size() || text[end] == '/' || !is_of_path(text[end]);
      if (begins && ends) text.replace(at, name.size(), copy_);
      at += begins && ends ? copy_.size() : name.size();
    }
  }
  return text;
}

std::string originals_in(std::string text, const std::string& copy, const std::string& original) {
  for (std::size_t at = 0; (at = text.find(copy, at)) != text.npos; at += original.size()) {
    text.replace(at, copy.size(), original);
  }
  return text;
}

}  // namespace feedrate
