// SPDX-License-Identifier: Apache-2.0
// Rates: the flow of any part of a config, and a rate that the whole can't exceed.
#pragma once

#include <algorithm>

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

namespace detail {

/// Of step, launches and copies alone, at full speed.
inline double device_bound(const Machine& machine, const Config& config) {
  const double step = step_s(machine, config);
  if (!machine.accelerator) return config.batch / step;
  const double bytes_s = copy_s(machine, config);
  const double host_s = machine.stepping.launch_s + (config.pinned ? 0 : bytes_s);
  return config.batch / std::max({step, host_s, bytes_s});
}

/// Of loading alone: no scatter, no crowd.
inline double loader_bound(const Machine& machine, const Config& config) {
  const Loading& loading = machine.loading;
  const double alone = 1 / (loading.sample_s + loading.latency_s);
  const double storage =
      loading.file_bytes > 0 ? loading.storage_bytes_per_s / loading.file_bytes : infinity;
  if (config.workers == 0) return std::min(alone, storage);
  const double cores = machine.cores.capacity(machine.cores.logical) / loading.sample_s;
  return std::min({config.workers * alone, cores, storage});
}

}  // namespace detail

/// No coupled rate of the config exceeds this, but for what a finite simulation adds.
inline double bound_of(const Machine& machine, const Config& config) {
  if (machine.flat_rate > 0) return machine.flat_rate;
  return std::min(detail::device_bound(machine, config), detail::loader_bound(machine, config));
}

}  // namespace feedrate::simulate
