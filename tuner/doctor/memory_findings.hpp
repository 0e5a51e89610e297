// SPDX-License-Identifier: Apache-2.0
// The doctor's findings on memory, and on limits set by the shell and the container.
#pragma once

#include <optional>
#include <string>

#include "doctor/finding.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/report/text/card.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate::inline v0 {

namespace detail {

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
inline constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

inline std::string or_unlimited(std::optional<std::uint64_t> limit) {
  return limit ? format_count(*limit) : "unlimited";
}

}  // namespace detail

inline Finding examine_memory(const MemoryLimits& memory) {
  Finding finding{"memory", Status::ok, detail::describe_memory(memory), ""};
  finding.seen += ", " + format_bytes(memory.free_bytes) + " free";
  const char* mend = "Close other programs, or give the container more memory.";
  if (memory.usable_bytes < memory.total_bytes) finding.status = Status::note;
  if (memory.free_bytes < detail::gibibyte) {
    finding.status = Status::warning;
    finding.mend = mend;
  }
  if (memory.free_bytes < 256 * detail::mebibyte) finding.status = Status::problem;
  return finding;
}

/// Batches that are swapped out arrive at the speed of the disk.
inline Finding examine_swap(const MemoryLimits& memory) {
  if (memory.swap_bytes == 0) return {"swap", Status::ok, "none", ""};
  const std::string seen =
      format_bytes(memory.swap_used_bytes) + " of " + format_bytes(memory.swap_bytes) + " in use";
  if (memory.swap_used_bytes * 10 <= memory.swap_bytes) return {"swap", Status::ok, seen, ""};
  return {"swap", Status::warning, seen,
          "Free memory, then run 'sudo swapoff -a && sudo swapon -a'."};
}

inline Finding examine_open_files(const Limits& limits) {
  const std::string seen = detail::or_unlimited(limits.open_files) + " open files";
  if (limits.open_files.value_or(UINT64_MAX) > 1024) return {"nofile", Status::ok, seen, ""};
  const bool few = *limits.open_files < 256;
  return {"nofile", few ? Status::warning : Status::note,
          seen + "; many workers or shards need more",
          "Run 'ulimit -n 65536' first ('docker run --ulimit nofile=65536')."};
}

/// CUDA's own pinned memory isn't counted against this limit; that of network cards (RDMA) is.
inline Finding examine_memlock(const Limits& limits, bool has_gpus) {
  const std::string seen =
      limits.memlock_bytes ? format_bytes(*limits.memlock_bytes) + " can be locked" : "unlimited";
  const bool little = limits.memlock_bytes.value_or(UINT64_MAX) < 64 * detail::mebibyte;
  if (!little || !has_gpus) return {"memlock", Status::ok, seen, ""};
  return {"memlock", Status::note, seen + "; enough for CUDA, too little for RDMA between machines",
          "To train on several machines, run 'ulimit -l unlimited' first."};
}

inline Finding examine_processes(const Limits& limits) {
  const std::string seen = detail::or_unlimited(limits.processes) + " processes and threads";
  if (limits.processes.value_or(UINT64_MAX) >= 1024) return {"nproc", Status::ok, seen, ""};
  return {"nproc", Status::warning, seen + " for all programs of this user",
          "Run 'ulimit -u 4096' first ('docker run --pids-limit -1')."};
}

/// Python loaders hand batches over in shared memory and die of SIGBUS when it is full.
inline Finding examine_shm(const Limits& limits) {
  const char* mend = "Start the container with 'docker run --shm-size 8g', or '--ipc host'.";
  if (!limits.shm_bytes) {
    return {"shm", Status::note, "/dev/shm is not mounted, but PyTorch's workers need it", mend};
  }
  const std::string seen = format_bytes(*limits.shm_bytes) + " in /dev/shm";
  if (*limits.shm_bytes >= detail::gibibyte) return {"shm", Status::ok, seen, ""};
  return {"shm", Status::warning, seen + ", which PyTorch's workers fill quickly", mend};
}

}  // namespace feedrate::inline v0
