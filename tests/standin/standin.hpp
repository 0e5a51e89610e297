// SPDX-License-Identifier: Apache-2.0
// Controls of the stand-in for the CUDA runtime, and what it has seen.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// One device whose memory is host memory of its own. The order within a stream and the waits for
/// events are kept exactly; nothing else is promised, so that a missing wait gives wrong bytes.
/// Work runs on whichever thread calls the runtime, under one lock.
namespace standin {

/// When queued work runs. Each is legal on a real device.
struct Schedule {
  enum class Kind {
    lazy,    ///< when somebody waits for it, or has looked for its end several times
    eager,   ///< at once
    random,  ///< some of it at each call, of any stream, chosen by the seed
  };
  Kind kind = Kind::lazy;
  std::uint64_t seed = 0;
};
constexpr Schedule lazy{Schedule::Kind::lazy, 0};
constexpr Schedule eager{Schedule::Kind::eager, 0};
constexpr Schedule random(std::uint64_t seed) {
  return {Schedule::Kind::random, seed};
}

/// Forgets all: work, memory, handles, controls and counts. The schedule is lazy again. The
/// environment is read again: FEEDRATE_STANDIN_MEMORY (bytes), FEEDRATE_STANDIN_FAIL
/// ("name@n=status", the status as a number, several with commas), FEEDRATE_STANDIN_SCHEDULE
/// (lazy, eager or a seed), FEEDRATE_STANDIN_GUARD (1), FEEDRATE_STANDIN_LOG (a file to which each
/// process appends "PID NAME" at its first call of each function), FEEDRATE_STANDIN_FAIL_ONCE (a
/// file that the first process to fail makes: no other process fails).
void reset();

void set_schedule(Schedule schedule);

/// Bytes of device memory, 1 GiB at first.
void set_memory_limit(std::size_t bytes);

/// Bytes of the device's L2 cache, an H100's at first; 0: it does not tell.
constexpr std::size_t first_l2_bytes = std::size_t{50} << 20;
void set_l2_bytes(std::size_t bytes);

/// Bytes of host memory that may be pinned; 0 (at first): any number.
void set_pinned_limit(std::size_t bytes);

/// Memory taken from now on may be touched by queued work alone: any other use ends the process
/// with a signal, as does a use behind its end.
void guard_memory(bool on = true);

/// The n-th call from now (1: the next) of `name`, or of any function where it is "*", gives
/// `status` instead of doing its work; functions that destroy or free still do it. An error that
/// stays, such as cudaErrorIllegalAddress, loses the device. Forms of one function have one name:
/// cudaStreamCreate, cudaEventCreate, cudaHostAlloc; enqueue() is "launch".
void fail_at(const std::string& name, std::uint64_t n, cudaError_t status);

/// From now on all calls give `status`, and queued work never runs.
void lose_device(cudaError_t status = cudaErrorLaunchFailure);

/// The device never ends any work: queries say "not ready", and nothing else waits.
void hang_device();

// Planted mistakes.

/// Waits of streams for which `chosen` is true are forgotten.
void forget_waits(std::function<bool(cudaStream_t)> chosen);

/// cudaEventQuery says at once that the work is done.
void hasten_queries(bool on = true);

// What was seen.

struct Counts {
  std::uint64_t calls = 0;          ///< of all functions, but those that only name errors
  std::uint64_t host_blocking = 0;  ///< calls that made the host wait for the device or a copy
  std::uint64_t copies = 0;
  std::uint64_t copied_bytes = 0;
  std::uint64_t launches = 0;  ///< enqueue() outside of captures, and graphs
};
Counts counts();
std::uint64_t calls_of(const std::string& name);

/// What exists now.
struct Living {
  std::size_t device_blocks = 0, device_bytes = 0, pinned_ranges = 0, pinned_bytes = 0;
  std::size_t streams = 0, events = 0, graphs = 0;

  bool operator==(const Living&) const = default;
};
Living living();

/// What would have been undefined on a real device, such as pinned memory that was given back
/// while a copy was still to read it. Empty when all is well.
std::vector<std::string> complaints();

}  // namespace standin
