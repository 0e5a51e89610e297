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
  const std::string ending = ".part" + std::to_string(chance);
  constexpr std::size_t longest_name = 255;
  const std::size_t folder = path.rfind('/') + 1;  // 0 where there is none
  return path.substr(0, folder + longest_name - ending.size()) + ending;
}

/// Writes a file that is not there yet, links included.
inline bool write_new(const std::string& path, std::span<const std::uint8_t> bytes, mode_t mode,
                      const struct stat* like = nullptr) noexcept {
  constexpr mode_t own = 0600;
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  Descriptor file(::open(path.c_str(), flags, like ? own : mode));
  if (file.fd() < 0 || !write_fully(file.fd(), bytes)) return false;
  if (like) {
    [[maybe_unused]] const int given = ::fchown(file.fd(), like->st_uid, like->st_gid);
    if (::fchmod(file.fd(), like->st_mode & 07777) != 0) return false;
  }
  return file.close();
}

}  // namespace detail

/// Replaces the file at `path`. The new one has the permissions of `mode`, less those of the umask;
/// or those of `like`, and its owner, where this user may give a file away. Throws Error(data)
/// naming it, and leaves what was there before, when the disk is full or the place can't be written
/// to.
inline void write_file(const std::string& path, std::span<const std::uint8_t> bytes,
                       mode_t mode = 0666, const struct stat* like = nullptr) {
  const std::string draft = detail::draft_of(path);
  if (detail::write_new(draft, bytes, mode, like) && std::rename(draft.c_str(), path.c_str()) == 0)
    return;
  const int error = errno;
  ::unlink(draft.c_str());
  detail::throw_unwritable(path, error);
}

}  // namespace feedrate::inline v0
