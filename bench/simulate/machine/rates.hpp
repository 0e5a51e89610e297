// SPDX-License-Identifier: Apache-2.0
// Rates: the rate of any part of a config, and upper bounds of the whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "flow.hpp"

namespace feedrate::simulate {

/// The steady state of a part of a config, on a device that runs at `device_speed` of its own.
inline Flow flow_of(const Machine& machine, const Config& config, Part part,
                    double device_speed = 1) {
  if (machine.flat_rate > 0) return {machine.flat_rate, 0.1, 0.9, 1e-6, 0.01, 0.01};
  if (part != Part::copy) return FlowSimulation(machine, config, part, device_speed).run();
  Flow flow;
  flow.samples_per_s = config.batch / copy_s(machine, config);
  flow.cpu_s_per_sample = config.pinned ? 0 : 1 / flow.samples_per_s;
  return flow;
}

/// Rates that no config exceeds when all has become steady. They come from what each part can do
/// alone and from the work of caller and workers on the cores, and need no simulation.
class Bounds {
 public:
  explicit Bounds(const Machine& machine) : machine_(machine) {}

  /// samples/s of the coupled pipeline, on a device at full speed.
  double of(const Config& config) {
    if (machine_.flat_rate > 0) return machine_.flat_rate;
    return config.batch / std::max({device_s(config), loader_s(config), cores_s(config)});
  }

 private:
  /// What the cores do at best for the threads of a config.
  struct Most {
    double workers_alone = 0;          ///< work per second of all workers, in cores
    double workers_beside_caller = 0;  ///< the same while the caller works, too
    double caller_s = 1;               ///< that a second of the caller's work takes
  };

  // Seconds that a batch takes at least.

  double device_s(const Config& config) const noexcept {
    return machine_.accelerator ? std::max(step_s(machine_, config), copy_s(machine_, config)) : 0;
  }

  double loader_s(const Config& config) const noexcept {
    const Loading& loading = machine_.loading;
    const double waiting_s = (loading.sample_s + loading.latency_s) / std::max(config.workers, 1);
    const double storage_s = loading.file_bytes / loading.storage_bytes_per_s;
    return config.batch * std::max({waiting_s, storage_s, loading.lock_s});
  }

  /// Of the caller's work, and of what the workers have left to do behind what they did beside it.
  double cores_s(const Config& config) {
    const Loading& loading = machine_.loading;
    const Most& most = most_of(config);
    const double caller_s = host_s(machine_, config, Part::coupled) * most.caller_s;
    const double loading_s = config.batch * loading.sample_s;
    if (config.workers == 0) return caller_s + loading_s + config.batch * loading.latency_s;
    const double left_s = std::max(0.0, loading_s - caller_s * most.workers_beside_caller);
    return caller_s + left_s / most.workers_alone;
  }

  const Most& most_of(const Config& config) {
    const auto [place, is_new] = most_.try_emplace({config.workers, config.step_threads});
    Most& most = place->second;
    if (!is_new) return most;
    const Paces paces(machine_, config.workers, config.step_threads);
    const CallerLoad load = machine_.accelerator ? CallerLoad::thread : CallerLoad::step;
    most.caller_s = paces.of(0, load).caller_s;
    for (int n = 1; n <= config.workers; ++n) {
      const auto busy = static_cast<std::size_t>(n);
      most.workers_alone =
          std::max(most.workers_alone, n * paces.of(busy, CallerLoad::none).worker);
      most.workers_beside_caller =
          std::max(most.workers_beside_caller, n * paces.of(busy, load).worker);
    }
    return most;
  }

  const Machine& machine_;
  std::map<std::pair<int, int>, Most> most_;  ///< by workers and threads of the step
};

}  // namespace feedrate::simulate
