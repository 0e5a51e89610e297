// SPDX-License-Identifier: Apache-2.0
// Writes files that are complete or absent: under a temporary name first, then renamed.
#pragma once

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/data/file.hpp"

namespace feedrate::inline v0 {

namespace detail {

[[noreturn]] inline void throw_unwritable(const std::string& path, int error) {
  throw Error(Fault::data, "Can't write '" + path + "': " + std::strerror(error) +
                               "; free some space, or choose a place that you may write to.");
}

/// Writes all bytes; false with errno set where that failed.
inline bool write_fully(int fd, std::span<const std::uint8_t> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

/// A name beside `path` that no other process draws: process ids are the same in two containers.
inline std::string draft_of(const std::string& path) {
  std::uint64_t chance = 0;
  if (::getrandom(&chance, sizeof chance, 0) != sizeof chance) {
    chance = static_cast<std::uint64_t>(::getpid());
  }
  return path + ".part" + std::to_string(chance);
}

/// Writes a file that is not there yet, links included.
inline bool write_new(const std::string& path, std::span<const std::uint8_t> bytes,
                      mode_t mode) noexcept {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  return file.fd() >= 0 && write_fully(file.fd(), bytes) && file.close();
}

}  // namespace detail

/// Replaces the file at `path`. The new one has the permissions of `mode`, less those of the umask,
/// and the owner of the old one, where this user may give it away.
/// Throws Error(data) naming it, and leaves what was there before, when the disk is full or
/// the place can't be written to.
inline void write_file(const std::string& path, std::span<const std::uint8_t> bytes,
                       mode_t mode = 0666) {
  const std::string draft = detail::draft_of(path);
  const bool is_written = detail::write_new(draft, bytes, mode);
  struct stat old {};
  if (is_written && ::stat(path.c_str(), &old) == 0) {
    [[maybe_unused]] const int given = ::chown(draft.c_str(), old.st_uid, old.st_gid);
  }
  if (is_written && std::rename(draft.c_str(), path.c_str()) == 0) return;
  const int error = errno;
  ::unlink(draft.c_str());
  detail::throw_unwritable(path, error);
}

}  // namespace feedrate::inline v0
