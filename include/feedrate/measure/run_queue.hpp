// SPDX-License-Identifier: Apache-2.0
// The run queue: how long threads of this process were ready to run while no core was free, or the
// host of this virtual machine gave the core to others.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "feedrate/core/system_files.hpp"

namespace feedrate {
namespace detail {

/// Nanoseconds that one thread has waited for a core. Source: Documentation/scheduler/
/// sched-stats.rst of Linux, the second number of /proc/PID/schedstat.
inline std::uint64_t queued_ns(const std::string& schedstat) {
  const auto columns = split(trimmed(schedstat), ' ');
  return columns.size() < 2 ? 0 : parse_count(columns[1]).value_or(0);
}

}  // namespace detail

/// Seconds that the threads which this process has now were ready so far, but did not run. A
/// thread that ended takes its share with it. 0 where the kernel doesn't tell.
///
/// This is what sets a thread that waits for data apart from one that waits for a core: the wall
/// time of both exceeds their CPU time.
inline double run_queue_wait_s(const std::string& root = "") {
  const std::string tasks = root + "/proc/self/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(tasks.c_str()),
                                                   [](DIR* d) { return ::closedir(d); });
  std::uint64_t sum_ns = 0;
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (entry->d_name[0] == '.') continue;
    const std::string stat = tasks + "/" + entry->d_name + "/schedstat";
    sum_ns += detail::queued_ns(read_text(stat).value_or(""));
  }
  return static_cast<double>(sum_ns) * 1e-9;
}

/// What all CPUs of this machine did so far, in CPU seconds: ran its programs, or were wanted by
/// them while the host of this virtual machine let others run. Zeros where the kernel doesn't tell.
/// Source: proc(5), the first line of /proc/stat.
struct MachineCpu {
  double used_s = 0;
  double stolen_s = 0;

  static MachineCpu read(const std::string& root = "") {
    const std::string text = read_text(root + "/proc/stat").value_or("");
    MachineCpu cpu;
    if (!text.starts_with("cpu ")) return cpu;
    // cpu user nice system idle iowait irq softirq steal, in ticks
    const auto columns = split(split(text, '\n').front(), ' ');
    const auto ticks = [&](std::size_t column) {
      return column < columns.size() ? parse_count(columns[column]).value_or(0) : 0;
    };
    const double per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
    cpu.used_s = static_cast<double>(ticks(1) + ticks(2) + ticks(3) + ticks(6) + ticks(7)) / per_s;
    cpu.stolen_s = static_cast<double>(ticks(8)) / per_s;
    return cpu;
  }
};

/// What of the stolen time between two readings fell on a process that used `cpu_s` meanwhile: as
/// much as of the used.
inline double stolen_from(double cpu_s, const MachineCpu& begin, const MachineCpu& end) noexcept {
  const double used_s = end.used_s - begin.used_s;
  const double stolen_s = std::max(0.0, end.stolen_s - begin.stolen_s);
  return used_s > 0 ? stolen_s * std::min(1.0, cpu_s / used_s) : 0;
}

}  // namespace feedrate
