// SPDX-License-Identifier: Apache-2.0
// A simulated machine: cores, storage, copy engine, device and their effects on each other. Plain
// data; it uses no law that the tuner fits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "feedrate/core/config.hpp"
#include "service.hpp"

namespace feedrate::simulate {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Cores that share themselves out evenly among the threads that want to run.
struct Cores {
  int physical = 4;
  int logical = 4;
  double twin_gain = 0;    ///< what the second thread of a physical core adds
  double switch_loss = 0;  ///< share lost to switching with twice as many threads as cores
  double straggling = 1;   ///< a step of many threads runs at share^straggling: it awaits the last
  double worker_on_worker = 0;  ///< slow-downs by shared caches and memory, all cores busy
  double step_on_worker = 0;
  double worker_on_step = 0;

  /// Work done per second by n busy threads, in cores.
  double capacity(double n) const noexcept {
    const double alone = std::min<double>(n, physical);
    const double twins = std::clamp<double>(n - physical, 0, logical - physical);
    const double excess = std::clamp<double>((n - logical) / logical, 0, 1);
    return (alone + twin_gain * twins) * (1 - switch_loss * excess);
  }
};

/// Where samples come from and what they cost.
struct Loading {
  double sample_s = 1e-3;  ///< computing per sample, on a core of its own, mean
  ServiceTimes service;
  double latency_s = 0;  ///< waiting per sample, no core needed
  double file_bytes = 0;
  double storage_bytes_per_s = infinity;  ///< shared by all workers
  double lock_s = 0;                      ///< per sample; held for a whole run of them at once
  double convoy = 0;        ///< by so much each waiting worker lengthens the holding of the lock
  double slot_bytes = 600;  ///< per sample, in the ring
  int run_length = 1;       ///< samples per ticket, where the batch allows eight runs
};

/// From the ring to the device.
struct Copying {
  double pinned_bytes_per_s = 25e9;
  double pageable_bytes_per_s = 5e9;  ///< staged by the caller, who can do nothing else meanwhile
  double fixed_s = 1e-5;
};

/// The step, by precision.
struct Stepping {
  std::array<double, 4> sample_s{};        ///< arithmetic per sample of an endless batch
  std::array<double, 4> half_batch{};      ///< scale of the batch at which the device fills up
  std::array<int, 4> tile{1, 1, 1, 1};     ///< batches are rounded up to whole tiles
  std::array<double, 4> traffic_s{};       ///< memory traffic per sample
  std::array<double, 4> fixed_s{};         ///< update of the weights, casts
  std::array<double, 4> activation_bytes;  ///< per sample
  double fill_power = 0.6;                 ///< how sharply the device fills up
  double knee_batch = 1e9;                 ///< beyond it, caches or the memory pool thrash
  double knee_cost = 0;
  double launch_s = 0;  ///< per step, on the host
  double serial = 0;    ///< share of a step on cores that one thread does alone
  double barrier_s = 0;
  double weight_bytes = 1e8;
};

/// All of it.
struct Machine {
  bool accelerator = true;  ///< else the step computes on the cores
  Cores cores;
  Loading loading;
  Copying copying;
  Stepping stepping;
  int queue = 2;                   ///< steps that the host may be ahead of the device
  double memory_bytes = infinity;  ///< slots and step
  double memory_error = 0;         ///< relative error of the predicted need
  double failing_share = 0;        ///< of configs, which throw
  double throttle_after_s = infinity;
  double throttle_factor = 1;  ///< the device's speed from then on
  double flat_rate = 0;        ///< > 0: a null machine, on which all configs are equally fast
  std::uint64_t seed = 0;
};

constexpr std::size_t index_of(Precision precision) noexcept {
  return static_cast<std::size_t>(precision);
}

/// Bytes that slots and step of a config really take.
inline double memory_of(const Machine& machine, const Config& config) noexcept {
  const double slots = (config.prefetch + 1) * machine.loading.slot_bytes;
  return machine.stepping.weight_bytes +
         config.batch * (slots + machine.stepping.activation_bytes[index_of(config.precision)]);
}

/// Seconds of a step alone on its device, at full speed.
inline double step_s(const Machine& machine, const Config& config) noexcept {
  const Stepping& step = machine.stepping;
  const std::size_t p = index_of(config.precision);
  const double batch = config.batch;
  const double padded = std::ceil(batch / step.tile[p]) * step.tile[p];
  const double filled = std::pow(batch / (batch + step.half_batch[p]), step.fill_power);
  const double arithmetic = padded * step.sample_s[p] / filled;
  const double beyond = std::max(0.0, std::log2(batch / step.knee_batch));
  const double traffic = batch * step.traffic_s[p];
  // The two overlap, but not perfectly: a soft maximum.
  const double both =
      std::cbrt(std::pow(arithmetic, 3) + std::pow(traffic, 3)) * (1 + step.knee_cost * beyond);
  if (machine.accelerator) return both + step.fixed_s[p];
  const double threads = config.step_threads;
  return both * (step.serial + (1 - step.serial) / threads) + step.fixed_s[p] +
         step.barrier_s * std::log2(threads);
}

}  // namespace feedrate::simulate
