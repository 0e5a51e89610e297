// SPDX-License-Identifier: Apache-2.0
// The descendants of a process by /proc, and signals that reach only them.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <set>
#include <vector>

namespace feedrate {

/// A process, told from a later one of the same number by when it started.
struct ProcessMark {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  unsigned long long started_ticks = 0;  ///< clock ticks after the machine started
  unsigned long long cpu_ticks = 0;      ///< used by it, and by children that it has waited for
};

/// All that descend from `root`, parents before their children; those that have ended, and that
/// nobody has waited for, among them. Throws Error(internal) where /proc can't be read.
std::vector<ProcessMark> descendants_of(pid_t root);

/// CPU seconds that `root` and all that descend from it have used so far, in steps of a clock tick
/// per process. Throws as descendants_of.
double tree_cpu_s(pid_t root);

/// Signals this very process; false where it is gone, or not ours to signal.
bool signal_process(const ProcessMark& process, int number) noexcept;

/// Removes the batches in shared memory that PyTorch's processes were about to hand over when they
/// were ended: files `/dev/shm/torch_PID_...` of this user, not changed before `since`, in seconds
/// of the epoch. Source: PyTorch's aten/src/ATen/MapAllocator.cpp.
void remove_batches_of(const std::set<pid_t>& ended, time_t since) noexcept;

/// Where memory runs out the kernel shall end this process, and not the run. May be called between
/// fork and exec.
void offer_to_oom_killer() noexcept;

}  // namespace feedrate
