// SPDX-License-Identifier: Apache-2.0
// The resources that this process may use: CPUs, memory, descriptors, shared memory. Plain data.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/quantity.hpp"
#include "feedrate/core/system_files.hpp"
#include "feedrate/machine/cgroup.hpp"
#include "feedrate/machine/mounts.hpp"

namespace feedrate::inline v0 {

/// CPUs: what the machine has and what of it is left to this process.
struct CpuLimits {
  int visible = 1;              ///< online
  int affinity = 1;             ///< online and in the affinity mask
  std::optional<double> quota;  ///< of the control group, in CPUs
  int usable = 1;               ///< the smallest of the three, the quota rounded up; at least 1
  int numa_nodes = 1;
  std::string why;  ///< one phrase where usable < visible, such as "cgroup quota 2.0"

  /// CPU seconds per second that this process can have: `usable`, with the quota not rounded up.
  double cores() const noexcept { return std::min<double>(quota.value_or(usable), usable); }
};

/// Memory, all in bytes.
struct MemoryLimits {
  std::uint64_t total_bytes = 0;              ///< RAM that the kernel manages
  std::uint64_t available_bytes = 0;          ///< what the kernel could hand out without swapping
  std::optional<std::uint64_t> cgroup_bytes;  ///< limit of the control group
  std::uint64_t usable_bytes = 0;             ///< min(total, cgroup limit)
  std::uint64_t free_bytes = 0;               ///< min(available, what the cgroup has left)
  std::uint64_t swap_bytes = 0;
  std::uint64_t swap_used_bytes = 0;
};

/// All limits. An absent ulimit is no limit; an absent shm_bytes means that /dev/shm is no mount.
struct Limits {
  CpuLimits cpus;
  MemoryLimits memory;
  std::optional<std::uint64_t> memlock_bytes;
  std::optional<std::uint64_t> open_files;
  std::optional<std::uint64_t> processes;
  std::optional<std::uint64_t> shm_bytes;  ///< size of /dev/shm
};

namespace detail {

/// The numbers of a kernel list such as "0-3,8", ascending; what can't be read is left out.
inline std::vector<int> numbers_in(std::string_view list) {
  constexpr std::uint64_t most = 1 << 16;
  std::vector<int> numbers;
  for (const std::string_view range : split(trimmed(list), ',')) {
    const std::size_t dash = range.find('-');
    const auto low = parse_count(range.substr(0, dash));
    const auto high = dash == std::string_view::npos ? low : parse_count(range.substr(dash + 1));
    if (!low || !high || *high >= most) continue;
    for (auto n = static_cast<int>(*low); n <= static_cast<int>(*high); ++n) {
      const auto place = std::lower_bound(numbers.begin(), numbers.end(), n);
      if (place == numbers.end() || *place != n) numbers.insert(place, n);
    }
  }
  return numbers;
}

inline std::vector<int> read_numbers(const std::string& path) {
  return numbers_in(read_text(path).value_or(""));
}

/// By the kernel itself, for sandboxes such as gVisor whose /proc does not tell it.
inline std::vector<int> asked_affinity() {
  std::vector<int> cpus;
  cpu_set_t mask;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < std::size_t{CPU_SETSIZE}; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

inline std::vector<int> read_affinity(const std::string& root) {
  const std::string status = read_text(root + "/proc/self/status").value_or("");
  const auto list = value_after(status, "Cpus_allowed_list:");
  return !list && root.empty() ? asked_affinity() : numbers_in(list.value_or(""));
}

/// How many of the CPUs online the mask names: it also names those that might be plugged in later.
/// One that names none has other numbers: lxcfs counts the CPUs of a container from 0.
inline int count_in(const std::vector<int>& mask, const std::vector<int>& online) {
  const auto in_mask = [&](int cpu) { return std::binary_search(mask.begin(), mask.end(), cpu); };
  const auto count = std::count_if(online.begin(), online.end(), in_mask);
  return static_cast<int>(count > 0 ? count : std::min(std::ssize(mask), std::ssize(online)));
}

inline std::string why_fewer(const CpuLimits& cpus) {
  if (cpus.usable >= cpus.visible) return "";
  if (cpus.usable < cpus.affinity) return "cgroup quota " + one_or_two_decimals(*cpus.quota);
  return "affinity mask of " + std::to_string(cpus.affinity);
}

/// The soft limit on a line of /proc/self/limits; absent for "unlimited" or no such line.
inline std::optional<std::uint64_t> soft_limit(std::string_view limits, std::string_view name) {
  const auto columns = split(value_after(limits, name).value_or(""), ' ');
  return columns.empty() ? std::nullopt : parse_count(columns[0]);
}

/// A tmpfs option such as "size=65536k", in bytes.
inline std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty() && text.back() == 'k') unit = 1024;
  if (!text.empty() && text.back() == 'm') unit = 1024 * 1024;
  if (!text.empty() && text.back() == 'g') unit = std::uint64_t{1} << 30;
  if (unit > 1) text.remove_suffix(1);
  const auto count = parse_count(text);
  return count ? std::optional(*count * unit) : std::nullopt;
}

/// tmpfs names its size only where it isn't the default, half of the RAM; 0 is no limit but the
/// RAM. Source: tmpfs(5).
inline std::optional<std::uint64_t> read_shm_bytes(const std::string& root,
                                                   std::uint64_t memory_bytes) {
  const auto mounts = read_mounts(root);
  const Mount* mount = mount_of(mounts, "/dev/shm");
  if (!mount || mount->point != "/dev/shm") return std::nullopt;
  const auto size = parse_size(option_of(*mount, "size"));
  if (size == 0) return memory_bytes;
  return size ? size : memory_bytes / 2;
}

inline std::uint64_t kilobytes(std::string_view meminfo, std::string_view key) {
  const auto columns = split(value_after(meminfo, key).value_or(""), ' ');
  return columns.empty() ? 0 : parse_count(columns[0]).value_or(0) * 1024;
}

}  // namespace detail

/// Bytes of memory that this process holds; 0 where /proc does not say.
inline std::uint64_t resident_bytes() {
  const std::string statm = read_text("/proc/self/statm").value_or("");
  const auto fields = split(statm, ' ');
  const auto pages = fields.size() > 1 ? parse_count(fields[1]) : std::nullopt;
  return pages.value_or(0) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// `cgroup_cpus` is the quota of the control group, if any.
inline CpuLimits read_cpu_limits(const std::string& root, std::optional<double> cgroup_cpus) {
  const std::vector<int> mask = detail::read_affinity(root);
  std::vector<int> online = detail::read_numbers(root + "/sys/devices/system/cpu/online");
  if (online.empty()) online = mask;  // some sandboxes hide /sys
  CpuLimits cpus;
  cpus.visible = std::max(1, static_cast<int>(online.size()));
  cpus.affinity = mask.empty() ? cpus.visible : std::max(1, detail::count_in(mask, online));
  cpus.quota = cgroup_cpus;
  const double quota = std::ceil(cgroup_cpus.value_or(cpus.visible) - 1e-9);
  cpus.usable = std::max(1, static_cast<int>(std::min<double>(cpus.affinity, quota)));
  const auto nodes = detail::read_numbers(root + "/sys/devices/system/node/online");
  cpus.numa_nodes = std::max(1, static_cast<int>(nodes.size()));
  cpus.why = detail::why_fewer(cpus);
  return cpus;
}

inline MemoryLimits read_memory_limits(const std::string& root, const CgroupLimits& cgroup) {
  const std::string meminfo = read_text(root + "/proc/meminfo").value_or("");
  MemoryLimits memory;
  memory.total_bytes = detail::kilobytes(meminfo, "MemTotal:");
  memory.available_bytes = detail::kilobytes(meminfo, "MemAvailable:");
  memory.cgroup_bytes = cgroup.memory_bytes;
  memory.usable_bytes = std::min(memory.total_bytes, cgroup.memory_bytes.value_or(UINT64_MAX));
  memory.free_bytes =
      std::min(memory.available_bytes, cgroup.memory_headroom_bytes.value_or(UINT64_MAX));
  memory.swap_bytes = detail::kilobytes(meminfo, "SwapTotal:");
  memory.swap_used_bytes = memory.swap_bytes - detail::kilobytes(meminfo, "SwapFree:");
  return memory;
}

/// Reads everything under `root`; "" is this machine.
inline Limits read_limits(const std::string& root = "") {
  const CgroupLimits cgroup = read_cgroup_limits(root);
  const std::string ulimits = read_text(root + "/proc/self/limits").value_or("");
  Limits limits;
  limits.cpus = read_cpu_limits(root, cgroup.cpus);
  limits.memory = read_memory_limits(root, cgroup);
  limits.memlock_bytes = detail::soft_limit(ulimits, "Max locked memory");
  limits.open_files = detail::soft_limit(ulimits, "Max open files");
  limits.processes = detail::soft_limit(ulimits, "Max processes");
  limits.shm_bytes = detail::read_shm_bytes(root, limits.memory.total_bytes);
  return limits;
}

}  // namespace feedrate::inline v0
