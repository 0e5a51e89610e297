// SPDX-License-Identifier: Apache-2.0
// Diagnosis: a cause of lost throughput and the numbers that show it. Plain data, no sentences.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "feedrate/core/config.hpp"
#include "feedrate/machine/environment.hpp"

namespace feedrate::inline v0 {

/// What costs throughput.
enum class Cause : std::uint8_t {
  no_overlap,
  too_few_workers,
  waiting_samples,
  too_many_workers,
  quota_below_cpus,
  nested_thread_pools,
  data_starvation,
  storage_slow,
  preprocess_offline,
  preprocess_on_device,
  epoch_boundary,
  pageable_copies,
  host_sync,
  shared_cores,
  interference,
  throttling,
  power_limit_lowered,
  clocks_lowered,
  other_gpu_processes,
  work_too_small,
  batch_too_small,
  batch_too_large,
  precision_not_used,
};

inline constexpr std::array<std::string_view, 23> cause_names = {
    "no_overlap",          "too_few_workers",      "waiting_samples",     "too_many_workers",
    "quota_below_cpus",    "nested_thread_pools",  "data_starvation",     "storage_slow",
    "preprocess_offline",  "preprocess_on_device", "epoch_boundary",      "pageable_copies",
    "host_sync",           "shared_cores",         "interference",        "throttling",
    "power_limit_lowered", "clocks_lowered",       "other_gpu_processes", "work_too_small",
    "batch_too_small",     "batch_too_large",      "precision_not_used"};

constexpr std::string_view name_of(Cause cause) noexcept {
  return cause_names[static_cast<std::size_t>(cause)];
}

/// The part of loading, or the shared resource, in which a cause lies.
enum class Where : std::uint8_t {
  unknown,  ///< or plain from the cause
  read,
  decode,
  augment,
  copy,
  cores,
  memory_bandwidth,
  hand_over,  ///< of batches between processes
  other_processes,
  lock,
};

inline constexpr std::array<std::string_view, 10> where_names = {"",
                                                                 "read",
                                                                 "decode",
                                                                 "augment",
                                                                 "copy",
                                                                 "cores",
                                                                 "memory_bandwidth",
                                                                 "hand_over",
                                                                 "other_processes",
                                                                 "lock"};

constexpr std::string_view name_of(Where where) noexcept {
  return where_names[static_cast<std::size_t>(where)];
}

/// The numbers behind a cause, in SI units; not a number where the cause does not need it.
struct CauseNumbers {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  double loader_samples_per_s = none;         ///< alone
  double one_worker_samples_per_s = none;     ///< the loader alone with one worker
  double copy_samples_per_s = none;           ///< alone
  double better_copy_samples_per_s = none;    ///< from pinned memory, or of bytes instead of floats
  double device_samples_per_s = none;         ///< alone
  double smaller_batch_samples_per_s = none;  ///< the device alone
  double cores_samples_per_s = none;          ///< that the shared cores allow
  double coupled_samples_per_s = none;        ///< of the whole pipeline
  double storage_samples_per_s = none;
  double storage_bytes_per_s = none;
  double cached_bytes_per_s = none;
  double load_s = none;               ///< of a sample, by one worker
  double load_cpu_s = none;           ///< of it computing
  double part_share = none;           ///< of the time to load a sample, by the part `where`
  double waiting_share = none;        ///< of the time, by the step
  double below_ceiling_share = none;  ///< by which the rate lies below the lowest ceiling
  double cores = none;                ///< that loader and step share
  double cores_used = none;
  double has_core_share = none;  ///< of the time in which threads want one
  double step_slowdown = none;   ///< beside the loader against alone
  double cpu_inflation = none;   ///< core-seconds of a sample against those alone
  double sigma = none;           ///< contention by the Universal Scalability Law
  double quota_cpus = none;
  double visible_cpus = none;
  double pool_threads = none;
  double boundary_s = none;      ///< of an epoch
  double boundary_share = none;  ///< of the time of a whole epoch
  double epoch_samples = none;
  double step_fixed_s = none;  ///< whatever the batch
  double step_per_sample_s = none;
  double step_fixed_share = none;  ///< in a step of `batch`
  double batch = none;
  double largest_batch = none;  ///< of the space
  double memory_used_bytes = none;
  double memory_bytes = none;
  double graph_speedup = none;       ///< of the pipeline, measured
  double graph_step_speedup = none;  ///< of the step alone
  double step_speedup = none;        ///< in another number format
  double speedup_if_free = none;     ///< if the part in question cost nothing
  double clock_hz = none;
  double max_clock_hz = none;
  double other_processes = none;   ///< on the GPU
  double other_busy_share = none;  ///< of its time
};

/// A cause of lost throughput.
struct Diagnosis {
  Cause cause = Cause::data_starvation;
  double share_of_gap = 0;          ///< of the time per sample beyond the device's own
  std::optional<double> gain = {};  ///< speed-up that the remedy gives
  bool measured = false;            ///< whether that gain was measured, or follows from the model
  Where where = Where::unknown;
  CauseNumbers numbers = {};
  std::optional<Config> remedy = {};  ///< the config to set, where a config is the remedy
  bool rejected = false;              ///< fresh processes did not confirm the remedy
  std::string variable = {};          ///< of the environment, where that sizes a thread pool
  std::optional<GpuState> gpu = {};   ///< where its clock is the cause
};

}  // namespace feedrate::inline v0
