// SPDX-License-Identifier: Apache-2.0
// Reads whole files into reused memory: one open, fstat, read and close.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/data/scratch.hpp"

namespace feedrate::inline v0 {

namespace detail {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int fd() const noexcept { return fd_; }
  /// False if the file could not be written: a quota or a file server may report that only now.
  bool close() noexcept { return ::close(std::exchange(fd_, -1)) == 0 || errno == EINTR; }

 private:
  int fd_;
};

[[noreturn]] inline void throw_io(const char* verb, const std::string& path, int error) {
  throw Error(Fault::data, "Can't " + std::string(verb) + " '" + path +
                               "': " + std::strerror(error) +
                               "; check that it exists and that you may read it.");
}

inline const char* kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  return "a device or socket";
}

/// Opens a regular file and returns its size; never blocks, not even on a pipe named like a file.
inline std::size_t open_regular(const Descriptor& file, const std::string& path) {
  if (file.fd() < 0) throw_io("open", path, errno);
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) throw_io("read", path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(Fault::data, "'" + path + "' is " + kind_of(status.st_mode) +
                                 ", not a file; remove it or rename it.");
  }
  return static_cast<std::size_t>(status.st_size);
}

inline int open_for_reading(const std::string& path) noexcept {
  int fd = 0;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);  // FUSE may be interrupted
  return fd;
}

/// Reads up to `size` bytes and returns how many there were.
inline std::size_t read_fully(int fd, std::uint8_t* to, std::size_t size, const std::string& path) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(fd, to + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_io("read", path, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace detail

/// The bytes of a regular file, held by `buffer` until its next use. Throws Error(data) naming the
/// file when it is missing, unreadable, no regular file, or longer than `max_bytes`.
inline std::span<const std::uint8_t> read_file(const std::string& path,
                                               std::vector<std::uint8_t>& buffer,
                                               std::size_t max_bytes = std::size_t{1} << 30) {
  const detail::Descriptor file(detail::open_for_reading(path));
  const std::size_t size = detail::open_regular(file, path);
  if (size > max_bytes) {
    throw Error(Fault::data, "'" + path + "' has " + std::to_string(size) +
                                 " bytes, more than the " + std::to_string(max_bytes) +
                                 " allowed; remove it.");
  }
  std::uint8_t* const bytes = detail::grow(buffer, size);
  return {bytes, detail::read_fully(file.fd(), bytes, size, path)};
}

/// Reads a whole file, so that it lies in the page cache; its bytes, or 0 if it can't be read.
inline std::size_t touch_file(const std::string& path) {
  thread_local std::vector<std::uint8_t> buffer;
  try {
    return read_file(path, buffer).size();
  } catch (const Error&) {
    return 0;
  }
}

/// Drops `bytes` of a file, or all from `offset` on where that is 0, from the page cache, as far as
/// the kernel agrees: pages that are mapped, or not yet written, stay.
inline bool evict_file(const std::string& path, std::size_t offset = 0, std::size_t bytes = 0) {
  const detail::Descriptor file(detail::open_for_reading(path));
  return file.fd() >= 0 && ::posix_fadvise(file.fd(), static_cast<off_t>(offset),
                                           static_cast<off_t>(bytes), POSIX_FADV_DONTNEED) == 0;
}

}  // namespace feedrate::inline v0
