// SPDX-License-Identifier: Apache-2.0
// The run queue: the time in which threads of this process were ready but had no core.
#pragma once

#include <dirent.h>

#include <cstdint>
#include <memory>
#include <string>

#include "feedrate/core/system_files.hpp"

namespace feedrate::inline v0 {
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

}  // namespace feedrate::inline v0
