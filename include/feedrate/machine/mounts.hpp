// SPDX-License-Identifier: Apache-2.0
// The mounted file systems, as /proc/self/mountinfo lists them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/system_files.hpp"

namespace feedrate::inline v0 {

/// One line of mountinfo. Format: proc(5), "/proc/pid/mountinfo".
struct Mount {
  std::string device;   ///< "major:minor"
  std::string root;     ///< the folder of the file system that is mounted
  std::string point;    ///< where it is mounted
  std::string type;     ///< "ext4", "tmpfs", "cgroup2", ...
  std::string source;   ///< "/dev/sda1", "server:/export", ...
  std::string options;  ///< of the file system, comma-separated: "rw,size=65536k"
};

namespace detail {

/// Undoes the octal escapes of mountinfo: "\040" is a space.
inline std::string unescaped(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) &&
                        octal(text[i + 2]) && octal(text[i + 3]);
    if (!escape) {
      plain += text[i];
      continue;
    }
    plain +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

}  // namespace detail

/// All mounts, in the order in which they were made; empty where the file can't be read.
inline std::vector<Mount> read_mounts(const std::string& root = "") {
  std::vector<Mount> mounts;
  const std::string text = read_text(root + "/proc/self/mountinfo").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const auto field = split(line, ' ');
    const auto dash = std::find(field.begin(), field.end(), "-");
    if (dash - field.begin() < 6 || field.end() - dash < 4) continue;
    mounts.push_back({std::string(field[2]), detail::unescaped(field[3]),
                      detail::unescaped(field[4]), std::string(dash[1]), detail::unescaped(dash[2]),
                      std::string(dash[3])});
  }
  return mounts;
}

/// True where `path` is `folder` or lies below it; both absolute.
inline bool is_within(std::string_view path, std::string_view folder) noexcept {
  if (folder == "/") return true;
  if (path.substr(0, folder.size()) != folder) return false;
  return path.size() == folder.size() || path[folder.size()] == '/';
}

/// The mount that holds an absolute path; nullptr where none is known. A later mount on the same
/// point hides the earlier one.
inline const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path) noexcept {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts) {
    if (!is_within(path, mount.point)) continue;
    if (!best || mount.point.size() >= best->point.size()) best = &mount;
  }
  return best;
}

/// The value of one option of the file system, such as "size"; empty where it isn't given.
inline std::string_view option_of(const Mount& mount, std::string_view name) {
  for (const std::string_view option : split(mount.options, ',')) {
    const std::size_t equals = option.find('=');
    if (equals != std::string_view::npos && option.substr(0, equals) == name) {
      return option.substr(equals + 1);
    }
  }
  return {};
}

}  // namespace feedrate::inline v0
