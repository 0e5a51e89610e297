// SPDX-License-Identifier: Apache-2.0
#include "trials/prepare.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "feedrate/load/sources/subset.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/measure/warm.hpp"

namespace feedrate {
namespace {

PreparedWorkload find_or_make(const TrialOrder& order, const Preparation& preparation) {
  constexpr double usual_cost_s = 100e-6;
  const DataRequest& data = order.data;
  WorkloadRequest request;
  request.data = data.path;
  request.labels = data.labels;
  request.name = data.workload_name();
  request.cost = data.cost.value_or(Cost::cpu);
  request.sample_cost_s = data.sample_cost_s.value_or(usual_cost_s);
  request.dct_scaling = data.dct_scaling;
  request.device = order.device;
  request.seed = order.seed;
  request.threads = read_limits().cpus.usable;
  request.say = preparation.say;
  request.progress = preparation.progress;
  request.alive = preparation.alive;
  request.stop = preparation.stop;
  request.known = order.cached_samples > 0;
  PreparedWorkload prepared = prepare_workload(request);
  prepared.workload.max_skips = data.max_skips;
  return prepared;
}

/// Bytes that a sample has on storage: the mean of some, spread over all. 0 where there are none.
double stored_bytes(const Source& source, const std::function<void()>& alive) {
  if (!source.stored() || source.size() == 0) return 0;
  const std::size_t most = 100;
  const std::size_t count = std::min(source.size(), most);
  double bytes = 0;
  for (std::size_t s = 0; s < count; ++s) {
    bytes += static_cast<double>(source.touch(s * source.size() / count));
    alive();
  }
  return bytes / static_cast<double>(count);
}

/// Brings the data to where the trials want it.
void place_data(PreparedWorkload& prepared, const TrialOrder& order,
                const Preparation& preparation) {
  if (order.data.cache == CacheMode::cold && !prepared.workload.source->stored()) {
    throw Error(Fault::usage, "--cache cold makes no sense here: these samples lie in memory.");
  }
  const std::uint64_t room = read_limits().memory.free_bytes / 2;
  prepared.workload.memory_bytes = room;
  prepared.info.stored_bytes = stored_bytes(*prepared.workload.source, preparation.alive);
  prepared.info.cache = order.data.cache;
  if (prepared.info.cache == CacheMode::warm) {
    prepared.workload.source = warmed(prepared.workload.source, {.bytes = room,
                                                                 .seconds = 10,
                                                                 .seed = order.seed,
                                                                 .stop = preparation.stop,
                                                                 .alive = preparation.alive,
                                                                 .samples = order.cached_samples});
  }
  prepared.info.cached_samples = prepared.workload.source->size();
  limit_variants(prepared.workload, prepared.info.cached_samples, order.seed);
}

}  // namespace

PreparedWorkload prepare(const TrialOrder& order, const Preparation& preparation) {
  PreparedWorkload prepared = find_or_make(order, preparation);
  place_data(prepared, order, preparation);
  return prepared;
}

std::uint64_t device_bytes(const Workload& workload, const Config& config) {
  if (!workload.device) return 0;
  const BatchLayout layout(workload.source->layout(), static_cast<std::size_t>(config.batch));
  return workload.device->memory_bytes(config, layout);
}

}  // namespace feedrate
