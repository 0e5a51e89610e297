// SPDX-License-Identifier: Apache-2.0
// The journal file: JSON Lines, each appended whole. Important lines are on storage when append
// returns.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/data/file.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/report/json/machine_json.hpp"

namespace feedrate::inline v0 {
namespace detail {

[[noreturn]] inline void throw_unwritten_journal(
    const std::string& path, int error, Fault fault = Fault::internal,
    const std::string& remedy = "this run can't be resumed beyond it") {
  throw Error(fault, "The journal '" + path + "' can't be written: " + std::strerror(error) + "; " +
                         remedy + ".");
}

/// Of a file that is not ours, or is no file.
[[noreturn]] inline void throw_foreign_journal(const std::string& path, const std::string& what) {
  throw Error(Fault::usage, "The run's journal would be '" + path + "', which " + what +
                                ": choose another --output, or move it away.");
}

[[noreturn]] inline void throw_missing_journal(const std::string& path) {
  throw Error(Fault::usage, "There is no journal '" + path +
                                "' that can be read: give --resume the report of a run that "
                                "was killed, with its journal beside it.");
}

/// Waits until what was written has reached the storage; false, with errno, where it has not. File
/// systems that can't tell do without.
inline bool has_reached_storage(int fd) noexcept {
  return ::fdatasync(fd) == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

/// Throws Error(usage) where the file is neither empty nor begins as a journal does.
inline void require_journal(int fd, const std::string& path) {
  constexpr std::string_view begin = "{\"journal_version\"";
  char bytes[begin.size()];
  const ssize_t got = ::pread(fd, bytes, sizeof bytes, 0);
  const std::string_view there(bytes, got > 0 ? static_cast<std::size_t>(got) : 0);
  if (!begin.starts_with(there)) throw_foreign_journal(path, "is there and is no journal");
}

}  // namespace detail

/// A journal's file, locked against a second writer. File systems without locks do without. Only
/// its owner may read it: the command line may hold passwords.
class JournalFile {
 public:
  /// Opens the journal at `path`, or makes one. Throws Error(internal) where that can't be done,
  /// Error(usage) where another process writes it now, or it is something else than a journal.
  static JournalFile make(const std::string& path) {
    JournalFile file{path, O_CREAT, Fault::internal, "this run can't be resumed beyond it"};
    detail::require_journal(file.fd(), path);
    return file;
  }

  /// Opens a journal that is there, to be read and gone on with. Throws Error(usage) where there is
  /// none, it can't be written, or another process writes it now.
  static JournalFile find(const std::string& path) {
    return {path, 0, Fault::usage, "copy it, with its report, to where you may write"};
  }

  /// Opens a journal that is there, to be replaced. Throws as find does, and where it is something
  /// else than a journal.
  static JournalFile find_replaceable(const std::string& path) {
    JournalFile file{path, 0, Fault::usage, "choose another --output"};
    detail::require_journal(file.fd(), path);
    return file;
  }

  const std::string& path() const noexcept { return path_; }
  int fd() const noexcept { return file_->fd(); }

 private:
  JournalFile(const std::string& path, int flags, Fault fault, const char* remedy)
      : path_(path),
        file_(std::make_unique<detail::Descriptor>(::open(
            path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600))) {
    if (fd() < 0 && errno == ENOENT && flags == 0) detail::throw_missing_journal(path);
    if (fd() < 0 && errno == ELOOP) detail::throw_foreign_journal(path, "is a link");
    if (fd() < 0) detail::throw_unwritten_journal(path, errno, fault, remedy);
    struct stat status {};
    if (::fstat(fd(), &status) == 0 && !S_ISREG(status.st_mode)) {
      detail::throw_foreign_journal(path, "is no file");
    }
    lock();
  }

  void lock() const {
    if (::flock(fd(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    throw Error(Fault::usage, "Another autotune is writing to '" + path_ +
                                  "': wait for its end, or choose another --output.");
  }

  std::string path_;
  std::unique_ptr<detail::Descriptor> file_;
};

/// Where the journal of a report lies: beside it, "x.jsonl" for "x.json".
inline std::string journal_path_of(const std::string& report) {
  return report + (report.ends_with(".json") ? "l" : ".jsonl");
}

/// Throws Error(usage) where something lies at `path` that can't be replaced: it is no journal, it
/// can't be written, or another process writes it now.
inline void require_unused_journal(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) JournalFile::find_replaceable(path);
}

/// Removes the journal at `path`, if there is one that nobody writes to; anything else stays.
inline void remove_journal(const std::string& path) {
  try {
    const JournalFile journal = JournalFile::find_replaceable(path);
    ::unlink(path.c_str());
  } catch (const Error&) {
  }
}

/// A journal that is being written.
class Journal {
 public:
  /// Begins a new one with this first line, in the place of an old one. Leaves no file behind, and
  /// throws Error(internal), where that can't be written; Error(usage) where another process does.
  Journal(const std::string& path, const Json& header) : file_(JournalFile::make(path)) {
    ::fchmod(file_.fd(), 0600);  // an older one may be open to all
    cut();
    try {
      append(header);
    } catch (const Error&) {
      ::unlink(path.c_str());
      throw;
    }
  }

  /// Goes on behind the first `bytes` of an old one, which were read from it since it was locked:
  /// what follows them is cut off.
  Journal(JournalFile file, std::uint64_t bytes) : file_(std::move(file)), bytes_(bytes) { cut(); }

  /// Adds one line. `durable` waits until it has reached the storage, with all lines before it.
  /// Throws Error(internal), and leaves the lines before it whole, where that fails.
  void append(const Json& line, bool durable = true) {
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const bool whole = detail::write_fully(
        file_.fd(), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    const bool kept = whole && (!durable || detail::has_reached_storage(file_.fd()));
    const int error = errno;
    if (!kept) cut();
    if (!kept) detail::throw_unwritten_journal(file_.path(), error);
    bytes_ += text.size();
  }

  const std::string& path() const noexcept { return file_.path(); }

 private:
  void cut() {
    if (::ftruncate(file_.fd(), static_cast<off_t>(bytes_)) == 0) return;
    detail::throw_unwritten_journal(file_.path(), errno);
  }

  JournalFile file_;
  std::uint64_t bytes_ = 0;  ///< of whole lines
};

}  // namespace feedrate::inline v0
