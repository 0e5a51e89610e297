// SPDX-License-Identifier: Apache-2.0
// The use of this process's CPUs: the share of other processes, and this process's part of the time
// that the host of a virtual machine stole.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/system_files.hpp"
#include "feedrate/machine/cgroup.hpp"
#include "feedrate/machine/limits.hpp"

namespace feedrate::inline v0 {

/// The CPUs that this process may use.
struct CpuGrant {
  std::vector<int> cpus;             ///< of the affinity mask, ascending; empty: unknown, so all
  std::optional<double> quota = {};  ///< of the control group, in CPUs

  /// `root` replaces / in tests.
  static CpuGrant read(const std::string& root = "") {
    return {detail::read_affinity(root), read_cgroup_limits(root).cpus};
  }

  /// Of this process, read once: neither changes in a run, and a reading takes 0.35 ms.
  static const CpuGrant& own() {
    static const CpuGrant grant = read();
    return grant;
  }
};

/// The use of the granted CPUs so far, in CPU seconds: `used_s` by programs, and `stolen_s` by
/// other guests of the host while programs here wanted to run. All zero where the kernel does not
/// tell.
struct MachineCpu {
  int cpus = 0;
  double used_s = 0;
  double stolen_s = 0;

  static MachineCpu read(const CpuGrant& grant = CpuGrant::own(), const std::string& root = "");
};

namespace detail {

/// The columns of a CPU in /proc/stat, in ticks. Source: proc(5). The columns behind `steal` are
/// parts of `user` and `nice`.
struct CpuTicks {
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0,
                steal = 0;

  std::uint64_t used() const noexcept { return user + nice + system + irq + softirq; }
};

/// Takes the number that the text begins with, behind blanks; 0 where there is none.
inline std::uint64_t take_number(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

inline CpuTicks parse_ticks(std::string_view columns) noexcept {
  CpuTicks ticks;
  for (std::uint64_t* column : {&ticks.user, &ticks.nice, &ticks.system, &ticks.idle, &ticks.iowait,
                                &ticks.irq, &ticks.softirq, &ticks.steal}) {
    *column = take_number(columns);
  }
  return ticks;
}

/// Takes the first line, without its newline.
inline std::string_view take_line(std::string_view& text) noexcept {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// Calls `visit(cpu, ticks)` for each CPU that is online. The first line is the sum of all CPUs.
template <class Visit>
void for_each_cpu(std::string_view stat, Visit&& visit) {
  while (stat.starts_with("cpu")) {
    std::string_view line = take_line(stat).substr(3);
    if (line.starts_with(' ')) continue;
    const auto cpu = static_cast<int>(take_number(line));
    visit(cpu, parse_ticks(line));
  }
}

}  // namespace detail

inline MachineCpu MachineCpu::read(const CpuGrant& grant, const std::string& root) {
  const std::string stat = read_text(root + "/proc/stat").value_or("");
  const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  MachineCpu sum, all;
  const auto add = [&](MachineCpu& to, const detail::CpuTicks& ticks) {
    ++to.cpus;
    to.used_s += static_cast<double>(ticks.used()) * tick_s;
    to.stolen_s += static_cast<double>(ticks.steal) * tick_s;
  };
  detail::for_each_cpu(stat, [&](int cpu, const detail::CpuTicks& ticks) {
    const auto& own = grant.cpus;
    if (std::binary_search(own.begin(), own.end(), cpu)) add(sum, ticks);
    add(all, ticks);
  });
  return sum.cpus > 0 ? sum : all;  // the mask is unknown, or its numbers are others
}

/// The part of the stolen time between two readings that fell on a process which used `cpu_s`
/// meanwhile: its share of the stolen time is taken to be that of the used time.
inline double stolen_from(double cpu_s, const MachineCpu& begin, const MachineCpu& end) noexcept {
  const double used_s = end.used_s - begin.used_s;
  const double stolen_s = std::max(0.0, end.stolen_s - begin.stolen_s);
  return used_s > 0 ? stolen_s * std::min(1.0, cpu_s / used_s) : 0;
}

/// Share of the granted CPUs that other processes or other guests of the host took between two
/// readings, `wall_s` apart, while this process used `cpu_s`. -1: unknown, since the kernel does
/// not tell, or the readings are too close together for its clock.
///
/// CPUs beyond the quota are not ours to use: others take them first. Time in which the quota
/// stopped this process counts as idle.
inline double others_share(const MachineCpu& begin, const MachineCpu& end, double wall_s,
                           double cpu_s, std::optional<double> quota = {}) noexcept {
  constexpr double least_cpu_s = 0.2;  // twenty ticks, so that the rounding of one is 5 % at most
  const double granted = std::min<double>(quota.value_or(end.cpus), end.cpus);
  if (granted * wall_s < least_cpu_s || end.cpus != begin.cpus || end.used_s <= 0) return -1;
  const double busy_s = end.used_s + end.stolen_s - begin.used_s - begin.stolen_s;
  const double harmless_s = (end.cpus - granted) * wall_s;
  return std::clamp((busy_s - cpu_s - harmless_s) / (granted * wall_s), 0.0, 1.0);
}

}  // namespace feedrate::inline v0
