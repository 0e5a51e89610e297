// SPDX-License-Identifier: Apache-2.0
// The parts of random machines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dice.hpp"
#include "machine.hpp"

namespace feedrate::simulate {
namespace detail {

inline Cores draw_cores(Dice& dice) {
  Cores cores;
  cores.physical = dice.pick({2, 4, 6, 8, 12, 16, 24, 32});
  const bool twins = dice.chance(0.6);
  cores.logical = twins ? 2 * cores.physical : cores.physical;
  cores.twin_gain = twins ? dice.between(0.1, 0.45) : 0;
  cores.switch_loss = dice.between(0, 0.25);
  cores.straggling = dice.between(1, 1.6);
  cores.worker_on_worker = dice.between(0, 0.6);
  cores.step_on_worker = dice.between(0, 0.5);
  cores.worker_on_step = dice.between(0, 0.5);
  return cores;
}

inline ServiceTimes draw_service(Dice& dice, std::uint64_t seed) {
  switch (dice.below(4)) {
    case 0:
      return {Scatter::constant, 0, seed};
    case 1:
      return {Scatter::lognormal, dice.between(0.1, 0.9), seed};
    case 2:
      return {Scatter::gamma, dice.between(0.2, 1.0), seed};
    default:
      return {Scatter::bimodal, dice.scale(4, 30), seed};
  }
}

/// Steps of a device that trains about `rate` samples/s in fp32 at a middling batch.
inline Stepping draw_accelerator_step(Dice& dice, double rate) {
  Stepping step;
  const double middle = dice.pick({64, 128, 256});
  const double fixed_share = dice.between(0.02, 0.3);
  step.fill_power = dice.between(0.3, 0.9);
  const double speed_ups[4] = {1, dice.between(1.2, 5), dice.between(2, 9), dice.between(1.5, 9)};
  const double traffic_share = dice.between(0.1, 0.9);
  for (std::size_t p = 0; p < 4; ++p) {
    const bool half = p >= 2;
    step.sample_s[p] = 1 / rate / speed_ups[p];
    // A faster unit needs a larger batch to fill it, and works in larger tiles.
    step.half_batch[p] = dice.between(0.05, 0.6) * middle * (half ? 2 : 1);
    step.tile[p] = p == 0 ? dice.pick({1, 2, 4}) : dice.pick({4, 8, 16});
    step.traffic_s[p] = traffic_share / rate * (half ? dice.between(0.5, 0.75) : 1);
    step.fixed_s[p] = fixed_share * middle / rate * (half ? dice.between(0.9, 1.4) : 1);
    step.activation_bytes[p] = half ? dice.between(0.5, 0.7) : 1;
  }
  step.launch_s = dice.scale(0.05, 1.5) * 32 / rate * dice.between(0.3, 1);
  step.knee_batch = dice.chance(0.5) ? dice.scale(64, 1024) : 1e9;
  step.knee_cost = dice.between(0.02, 0.25);
  return step;
}

/// Steps that compute on the cores; without tensor units half precisions gain little, or lose.
inline Stepping draw_core_step(Dice& dice, double rate, const Cores& cores) {
  Stepping step = draw_accelerator_step(dice, rate / cores.physical);
  const bool has_units = dice.chance(0.3);
  const double speed_ups[4] = {1, 1, dice.between(0.3, 0.9),
                               has_units ? dice.between(1.5, 4) : dice.between(0.4, 0.95)};
  for (std::size_t p = 0; p < 4; ++p) {
    step.sample_s[p] = cores.physical / rate / speed_ups[p];
    step.tile[p] = dice.pick({1, 4, 8});
    step.half_batch[p] = dice.between(0.5, 12);
    step.fixed_s[p] = dice.between(0.01, 0.2) * 32 / rate;
    step.traffic_s[p] *= 0.5;
  }
  step.launch_s = 0;
  step.serial = dice.between(0, 0.12);
  step.barrier_s = dice.between(0, 0.03) * 32 / rate;
  return step;
}

/// A loader whose best could feed `rate` samples/s.
inline Loading draw_loading(Dice& dice, double rate, const Cores& cores, std::uint64_t seed) {
  Loading loading;
  loading.service = draw_service(dice, seed);
  const double capacity = cores.capacity(cores.logical);
  loading.sample_s = std::min(0.03, capacity / rate / (1 + 0.5 * cores.worker_on_worker));
  if (dice.chance(0.3)) {  // data that wait rather than compute
    loading.latency_s = loading.sample_s * dice.scale(0.3, 5);
    loading.sample_s *= dice.between(0.2, 1);
  }
  loading.slot_bytes = dice.scale(100, 600'000);
  loading.run_length = static_cast<int>(std::clamp(4096 / loading.slot_bytes, 1.0, 64.0));
  if (dice.chance(0.35)) {
    loading.file_bytes = loading.slot_bytes * dice.between(0.1, 1);
    loading.storage_bytes_per_s = loading.file_bytes * rate * dice.scale(0.4, 4);
  }
  if (dice.chance(0.5)) {
    loading.lock_s = dice.scale(0.02, 1.2) / rate;
    loading.convoy = dice.chance(0.5) ? dice.between(0, 0.06) : 0;
  }
  return loading;
}

/// Pageable copies from a good deal faster to a good deal slower than the device trains.
inline Copying draw_copying(Dice& dice, double rate, const Loading& loading) {
  Copying copying;
  copying.pageable_bytes_per_s = loading.slot_bytes * rate * dice.scale(0.7, 60);
  copying.pinned_bytes_per_s = copying.pageable_bytes_per_s * dice.between(1.3, 6);
  copying.fixed_s = dice.scale(5e-6, 5e-5);
  return copying;
}

/// Bytes per sample and weights such that, on some machines, the largest batches don't fit.
inline void draw_memory(Dice& dice, Machine& machine, const Config& largest) {
  Stepping& step = machine.stepping;
  const double sample_bytes = machine.loading.slot_bytes * dice.scale(1, 30);
  for (double& bytes : step.activation_bytes) bytes *= sample_bytes;
  step.weight_bytes = sample_bytes * largest.batch * dice.between(0.05, 0.5);
  machine.memory_error = dice.between(-0.04, 0.04);
  if (dice.chance(0.4)) machine.memory_bytes = memory_of(machine, largest) * dice.between(0.4, 1.1);
}

}  // namespace detail
}  // namespace feedrate::simulate
