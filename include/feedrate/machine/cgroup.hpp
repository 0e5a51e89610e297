// SPDX-License-Identifier: Apache-2.0
// The CPU time and memory that control groups (version 1 or 2) allow this process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/system_files.hpp"
#include "feedrate/machine/mounts.hpp"

namespace feedrate::inline v0 {

/// The tightest limits on the way from the process's own group up to the root.
struct CgroupLimits {
  std::optional<double> cpus;                          ///< CPU seconds per second
  std::optional<std::uint64_t> memory_bytes;           ///< the smallest limit
  std::optional<std::uint64_t> memory_headroom_bytes;  ///< the smallest (limit - what is in use)
};

namespace detail {

template <class T>
void lower(std::optional<T>& limit, std::optional<T> candidate) {
  if (candidate && (!limit || *candidate < *limit)) limit = candidate;
}

/// Version 1 says "no limit" by the largest multiple of the page size, just below 2^63.
inline std::optional<std::uint64_t> finite(std::optional<std::uint64_t> bytes) {
  return bytes && *bytes < (std::uint64_t{1} << 60) ? bytes : std::nullopt;
}

/// "200000 100000" is 2.0 CPUs, "max 100000" is no limit. Source: the kernel's cgroup-v2.rst.
inline std::optional<double> quota_v2(const std::string& folder) {
  const auto text = read_text(folder + "/cpu.max");
  if (!text) return std::nullopt;
  const auto parts = split(trimmed(*text), ' ');
  const std::uint64_t quota = parts.empty() ? 0 : parse_count(parts[0]).value_or(0);
  const std::uint64_t period = parts.size() < 2 ? 100000 : parse_count(parts[1]).value_or(0);
  if (quota == 0 || period == 0) return std::nullopt;
  return static_cast<double>(quota) / static_cast<double>(period);
}

/// A quota of -1 is no limit. Source: the kernel's scheduler/sched-bwc.rst.
inline std::optional<double> quota_v1(const std::string& folder) {
  const auto quota = read_count(folder + "/cpu.cfs_quota_us");
  const auto period = read_count(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// What a group holds that can't be dropped: usage without the inactive page cache.
inline std::uint64_t in_use(const std::string& folder, const char* usage, const char* cache) {
  const std::uint64_t used = read_count(folder + usage).value_or(0);
  const std::string stat = read_text(folder + "/memory.stat").value_or("");
  const auto cached = parse_count(value_after(stat, cache).value_or("")).value_or(0);
  return used - std::min(used, cached);
}

inline void lower_memory(CgroupLimits& limits, std::optional<std::uint64_t> limit,
                         std::uint64_t used) {
  if (!limit) return;
  lower<std::uint64_t>(limits.memory_bytes, limit);
  lower<std::uint64_t>(limits.memory_headroom_bytes, *limit - std::min(*limit, used));
}

/// memory.high counts too: a group above it is throttled until it hardly runs.
inline void lower_memory_v2(CgroupLimits& limits, const std::string& folder) {
  std::optional<std::uint64_t> limit = finite(read_count(folder + "/memory.max"));
  lower<std::uint64_t>(limit, finite(read_count(folder + "/memory.high")));
  lower_memory(limits, limit, in_use(folder, "/memory.current", "inactive_file "));
}

inline void lower_memory_v1(CgroupLimits& limits, const std::string& folder) {
  const auto limit = finite(read_count(folder + "/memory.limit_in_bytes"));
  lower_memory(limits, limit, in_use(folder, "/memory.usage_in_bytes", "total_inactive_file "));
}

/// The folders from the process's group up to the mount point, nearest first. Inside a container
/// the group's path may name folders that are not mounted there: then only the mount point counts.
inline std::vector<std::string> folders_up(const Mount& mount, std::string_view group) {
  std::vector<std::string> folders;
  const std::string_view base = mount.root == "/" ? std::string_view() : mount.root;
  std::string rest(is_within(group, mount.root) ? group.substr(base.size()) : std::string_view());
  while (rest.size() > 1) {
    folders.push_back(mount.point + rest);
    rest.resize(rest.rfind('/'));
  }
  folders.push_back(mount.point);
  return folders;
}

inline bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Calls `visit(folder)` for each folder of the hierarchy that holds `controller`; "" is version 2.
template <class Visit>
void for_each_group(const std::vector<Mount>& mounts, std::string_view groups,
                    std::string_view controller, Visit&& visit) {
  for (const std::string_view line : split(groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view held = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? !held.empty() : !has_word(held, controller)) continue;
    for (const Mount& mount : mounts) {
      const bool same = controller.empty()
                            ? mount.type == "cgroup2"
                            : mount.type == "cgroup" && has_word(mount.options, controller);
      if (!same) continue;
      for (const auto& folder : folders_up(mount, line.substr(second + 1))) visit(folder);
    }
  }
}

}  // namespace detail

/// Reads /proc/self/cgroup and the groups it names. On a mixed system both versions count.
inline CgroupLimits read_cgroup_limits(const std::string& root = "") {
  CgroupLimits limits;
  const auto mounts = read_mounts(root);
  const std::string groups = read_text(root + "/proc/self/cgroup").value_or("");
  detail::for_each_group(mounts, groups, "", [&](const std::string& folder) {
    detail::lower<double>(limits.cpus, detail::quota_v2(root + folder));
    detail::lower_memory_v2(limits, root + folder);
  });
  detail::for_each_group(mounts, groups, "cpu", [&](const std::string& folder) {
    detail::lower<double>(limits.cpus, detail::quota_v1(root + folder));
  });
  detail::for_each_group(mounts, groups, "memory", [&](const std::string& folder) {
    detail::lower_memory_v1(limits, root + folder);
  });
  return limits;
}

}  // namespace feedrate::inline v0
