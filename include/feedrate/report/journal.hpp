// SPDX-License-Identifier: Apache-2.0
// The journal's file: JSON Lines that are appended whole and are on storage when append returns.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/data/file.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/report/machine_json.hpp"

namespace feedrate {
namespace detail {

[[noreturn]] inline void throw_unwritten_journal(const std::string& path, int error) {
  throw Error(Fault::internal, "The journal '" + path + "' can't be written: " +
                                   std::strerror(error) + "; this run can't be resumed beyond it.");
}

/// Opens a journal and locks it against a second writer. File systems without locks do without.
inline int open_journal(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) throw_unwritten_journal(path, errno);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return fd;
  ::close(fd);
  throw Error(Fault::usage, "Another autotune is writing to '" + path +
                                "': wait for its end, or choose another --output.");
}

}  // namespace detail

/// Throws Error(usage) where another process writes the journal at `path` now.
inline void require_unused_journal(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return;
  const detail::Descriptor file(detail::open_journal(path));
}

/// A journal that is being written.
class Journal {
 public:
  /// Begins a new one with this first line, in the place of an old one. Leaves no file behind, and
  /// throws Error(internal), where that can't be written; Error(usage) where another process does.
  Journal(std::string path, const Json& header)
      : path_(std::move(path)), file_(detail::open_journal(path_)) {
    cut();
    try {
      append(header);
    } catch (const Error&) {
      ::unlink(path_.c_str());
      throw;
    }
  }

  /// Goes on behind the first `bytes` of an old one: what follows them is cut off.
  Journal(std::string path, std::uint64_t bytes)
      : path_(std::move(path)), file_(detail::open_journal(path_)), bytes_(bytes) {
    cut();
  }

  /// Adds one line. `durable` waits until it has reached the storage. Throws Error(internal), and
  /// leaves the lines before it whole, where it can't be written.
  void append(const Json& line, bool durable = true) {
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const bool whole = detail::write_fully(
        file_.fd(), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    const int error = errno;
    if (!whole) cut();
    if (!whole) detail::throw_unwritten_journal(path_, error);
    bytes_ += text.size();
    if (durable) ::fdatasync(file_.fd());
  }

  const std::string& path() const noexcept { return path_; }

 private:
  void cut() {
    if (::ftruncate(file_.fd(), static_cast<off_t>(bytes_)) == 0) return;
    detail::throw_unwritten_journal(path_, errno);
  }

  std::string path_;
  detail::Descriptor file_;
  std::uint64_t bytes_ = 0;  ///< of whole lines
};

}  // namespace feedrate
