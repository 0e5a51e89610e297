// SPDX-License-Identifier: Apache-2.0
// The storage under a path: file system, device, rotational or not.
#pragma once

#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "feedrate/core/error.hpp"
#include "feedrate/core/system_files.hpp"
#include "feedrate/machine/mounts.hpp"

namespace feedrate::inline v0 {

/// The storage under a path.
struct Storage {
  std::string path;  ///< absolute, links resolved
  std::string mount_point;
  std::string file_system;         ///< "ext4", "nfs4", "tmpfs", "overlay", ...; empty if unknown
  std::string source;              ///< "/dev/sda1", "server:/export"
  std::optional<bool> rotational;  ///< absent where the kernel doesn't tell
  std::uint64_t free_bytes = 0;    ///< for this user
};

/// True for file systems that live in memory and so have no cold reads.
inline bool in_memory(const Storage& storage) noexcept {
  return storage.file_system == "tmpfs" || storage.file_system == "ramfs";
}

/// True for file systems that reach over a network.
inline bool is_remote(const Storage& storage) noexcept {
  constexpr std::array<std::string_view, 13> remote = {
      "nfs",  "nfs4",   "cifs", "smb3", "ceph",       "lustre",   "beegfs",
      "gpfs", "wekafs", "9p",   "afs",  "fuse.sshfs", "fuse.s3fs"};
  return std::find(remote.begin(), remote.end(), storage.file_system) != remote.end();
}

namespace detail {

inline std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (!real) {
    throw Error(Fault::data, "'" + path + "' can't be looked at: " + std::strerror(errno) +
                                 "; name a folder or file that exists.");
  }
  const std::string text = real;
  std::free(real);
  return text;
}

/// A partition has no queue of its own; its disk, the folder above, has.
inline std::optional<bool> read_rotational(const std::string& root, const std::string& device) {
  const std::string folder = root + "/sys/dev/block/" + device;
  for (const char* queue : {"/queue/rotational", "/../queue/rotational"}) {
    if (const auto flag = read_count(folder + queue)) return *flag != 0;
  }
  return std::nullopt;
}

/// virtio disks call themselves rotational whatever lies below them.
inline bool is_virtual(std::string_view source) noexcept {
  return source.substr(0, 7) == "/dev/vd";
}

inline std::uint64_t free_bytes_at(const std::string& path) noexcept {
  struct statvfs status {};
  if (::statvfs(path.c_str(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace detail

/// Looks up the mount that holds `path`; throws Error(data) where the path doesn't exist.
/// `root` replaces "/" for /proc and /sys alone.
inline Storage read_storage(const std::string& path, const std::string& root = "") {
  Storage storage;
  storage.path = detail::resolved(path);
  storage.free_bytes = detail::free_bytes_at(storage.path);
  const auto mounts = read_mounts(root);
  const Mount* mount = mount_of(mounts, storage.path);
  if (!mount) return storage;
  storage.mount_point = mount->point;
  storage.file_system = mount->type;
  storage.source = mount->source;
  if (!detail::is_virtual(mount->source)) {
    storage.rotational = detail::read_rotational(root, mount->device);
  }
  return storage;
}

}  // namespace feedrate::inline v0
