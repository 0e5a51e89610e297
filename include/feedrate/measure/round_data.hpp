// SPDX-License-Identifier: Apache-2.0
// The request for a round, and its result. Plain data.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "feedrate/machine/gpu_activity.hpp"

namespace feedrate::inline v0 {

class GpuSampler;

/// How long a round lasts.
struct RoundOptions {
  double seconds = 0.5;                             ///< at least
  int min_batches = 3;                              ///< at least
  int max_batches = 1 << 30;                        ///< at most, those of a warm-up included
  const std::atomic<bool>* abort = nullptr;         ///< ends the round at the next batch when true
  std::atomic<std::uint64_t>* progress = nullptr;   ///< counts signs of life, for whoever watches
  const std::function<double()>* joules = nullptr;  ///< used so far; null: not metered
  GpuSampler* gpu = nullptr;                        ///< looks at the GPU that steps; null: nobody
};

/// What was seen in a round, of the window that counts alone. Its clock starts at the end of the
/// first step, or of a warm-up.
struct Round {
  int order = 0;       ///< which round of the run this was
  int block = 0;       ///< process that ran it: rounds of two blocks are never a pair
  double start_s = 0;  ///< since the run began
  double duration_s = 0;
  std::uint64_t samples = 0;
  int batches = 0;
  int warm_up_batches = 0;   ///< before the clock started, the first step's included; 0: unknown
  double wait_s = 0;         ///< the step waited for a batch, or filled it itself; < 0: unknown
  double step_s = 0;         ///< the device was in steps, gaps between their launches included;
                             ///< < 0: unknown
  double cpu_s = 0;          ///< CPU seconds of the whole process
  double first_batch_s = 0;  ///< from an empty ring to the first batch
  int ring_at_start = 0;     ///< batches that lay ready when the clock started
  int ring_at_end = 0;       ///< and when it stopped
  double variability = 0;    ///< squared coefficient of variation of the time per batch
  double energy_j = 0;       ///< that the device used; 0: unknown
  double queue_s = 0;        ///< threads were ready to run, but others had the core; their sum
  double others_share = -1;  ///< of the CPUs that this process may use: taken by other processes,
                             ///< or by other guests of the host (steal); < 0: unknown
  double parked_cpu_s = 0;   ///< CPU seconds of other configs' workers, which should sleep
  double outside_s = 0;      ///< of validation, between epochs or within one; comes on top
  double boundary_s = 0;     ///< of duration and wait: the share of going on to the next epoch
  double copy_s = 0;         ///< batches were copied to the device's own memory
  double host_s = 0;  ///< the caller needs to queue a batch's work: the least of all batches;
                      ///< 0: it steps itself
  double slab_s = 0;  ///< making the memory of its slots took, once and before the round
  /// Of that memory in use at the end, by all, without what earlier configs left; 0: it has none.
  std::uint64_t device_bytes = 0;
  double nvml_busy = -1;     ///< share of the time in which some kernel ran, as nvidia-smi shows
                             ///< it; < 0: unknown
  double power_w = 0;        ///< of the GPU, mean; 0: unknown, as below
  double clock_hz = 0;       ///< of its multiprocessors, mean
  double temperature_c = 0;  ///< its highest
  GpuActivity gpm = {};

  double samples_per_s() const noexcept { return static_cast<double>(samples) / duration_s; }
  /// Share of the time in which the device was in steps; < 0: unknown.
  double busy() const noexcept { return step_s / duration_s; }
};

}  // namespace feedrate::inline v0
