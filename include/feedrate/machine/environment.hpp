// SPDX-License-Identifier: Apache-2.0
// The environment of a measurement: facts about CPUs, data and device besides the rounds.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/machine/limits.hpp"

namespace feedrate::inline v0 {

/// Seconds per sample on one core.
struct LoadCosts {
  double read_s = 0;
  double decode_s = 0;   ///< of the window that the crop needs
  double augment_s = 0;  ///< resize, mirror, normalise, lay out

  double sum_s() const noexcept { return read_s + decode_s + augment_s; }
};

/// Bytes per second of reading the data, and how many of them a sample has.
struct ReadSpeeds {
  double storage_bytes_per_s = 0;  ///< past the page cache
  double cached_bytes_per_s = 0;   ///< from it
  double sample_bytes = 0;
};

/// A thread pool that an environment variable sizes.
struct ThreadPool {
  std::string variable;  ///< OMP_NUM_THREADS, ...
  int threads = 0;
};

/// The names of what holds a GPU's clock down.
namespace slowed_by {
inline constexpr const char* power_cap = "power cap";
inline constexpr const char* hardware = "hardware slowdown";
inline constexpr const char* heat = "heat";
inline constexpr const char* heat_in_hardware = "heat, in hardware";
inline constexpr const char* power_brake = "power brake";
}  // namespace slowed_by

/// What the driver said of the GPU while it stepped.
struct GpuState {
  std::vector<std::string> throttled_by;  ///< names as above; empty: by nothing
  double clock_hz = 0;                    ///< of the multiprocessors; 0: unknown
  double max_clock_hz = 0;
  int other_processes = -1;               ///< that hold a context on it; < 0: unknown
  std::optional<double> other_busy = {};  ///< share of its time that they take; empty: unknown
  double busy = -1;  ///< share of the last second or less in which a kernel ran; < 0: unknown
  double power_w = 0;
  double power_limit_w = 0;          ///< that holds now
  double default_power_limit_w = 0;  ///< its maker's
  double temperature_c = 0;
  int pcie_generation = 0;  ///< that the link runs now, which idle GPUs lower; 0: unknown
  int pcie_lanes = 0;
};

/// All of it. What nobody looked at is empty, and no cause is made of it.
struct Environment {
  std::optional<CpuLimits> cpus;
  std::optional<std::uint64_t> memory_free_bytes;    ///< for slots and step, where they lie
  std::optional<std::uint64_t> device_memory_bytes;  ///< of a device's own memory, in all
  std::optional<LoadCosts> load;
  std::optional<ReadSpeeds> reads;
  bool cold = false;                    ///< samples are read past the page cache
  std::uint64_t samples_per_epoch = 0;  ///< of the whole data; 0: unknown
  std::uint64_t samples_used = 0;       ///< of them, which the rounds go through; 0: all
  std::vector<ThreadPool> thread_pools;
  std::optional<GpuState> gpu;
  bool worker_processes = false;  ///< workers are processes: batches are sent between them
  bool emulated = false;          ///< the device only takes time
  std::optional<double> wanted;   ///< share of the time in which that device should step
};

/// The pools that the environment sizes, in this process and its children.
inline std::vector<ThreadPool> read_thread_pools() {
  std::vector<ThreadPool> pools;
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
    const std::string_view text = std::getenv(name) ? std::getenv(name) : "";
    int threads = 0;
    std::from_chars(text.data(), text.data() + text.size(), threads);
    if (threads > 0) pools.push_back({name, threads});
  }
  return pools;
}

/// What this process can tell of itself under `root`; "" is this machine.
inline Environment read_environment(const std::string& root = "") {
  const Limits limits = read_limits(root);
  Environment environment;
  environment.cpus = limits.cpus;
  environment.memory_free_bytes = limits.memory.free_bytes;
  environment.thread_pools = read_thread_pools();
  return environment;
}

}  // namespace feedrate::inline v0
