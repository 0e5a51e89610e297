// SPDX-License-Identifier: Apache-2.0
#include "trials/prepare.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "feedrate/load/subset.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/measure/warm.hpp"
#include "request/axes.hpp"
#include "workload/device.hpp"

namespace feedrate {
namespace {

PreparedWorkload find_or_make(const SweepOptions& options, const TrainingDevice& device,
                              const Preparation& preparation) {
  WorkloadRequest request;
  request.data = options.data;
  request.labels = options.labels;
  request.name = options.workload;
  request.cost = options.cost == "latency" ? Cost::latency : Cost::cpu;
  request.sample_cost_s =
      parse_seconds("--sample-cost", options.sample_cost.empty() ? "100us" : options.sample_cost);
  request.dct_scaling = options.dct_scaling;
  request.device = device;
  request.seed = options.seed;
  request.threads = read_limits().cpus.usable;
  request.say = preparation.say;
  request.progress = preparation.progress;
  request.alive = preparation.alive;
  request.stop = preparation.stop;
  request.known = preparation.cached_samples > 0;
  PreparedWorkload prepared = prepare_workload(request);
  prepared.workload.max_skips = options.max_skips;
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
void place_data(PreparedWorkload& prepared, const SweepOptions& options,
                const Preparation& preparation) {
  if (options.cache == "cold" && !prepared.workload.source->stored()) {
    throw Error(Fault::usage, "--cache cold makes no sense here: these samples lie in memory.");
  }
  const std::uint64_t room = read_limits().memory.free_bytes / 2;
  prepared.workload.memory_bytes = room;
  prepared.info.stored_bytes = stored_bytes(*prepared.workload.source, preparation.alive);
  prepared.info.cache = options.cache == "cold" ? CacheMode::cold : CacheMode::warm;
  if (prepared.info.cache == CacheMode::warm) {
    prepared.workload.source =
        warmed(prepared.workload.source, {.bytes = room,
                                          .seconds = 10,
                                          .seed = options.seed,
                                          .stop = preparation.stop,
                                          .alive = preparation.alive,
                                          .samples = preparation.cached_samples});
  }
  prepared.info.cached_samples = prepared.workload.source->size();
  limit_variants(prepared.workload, prepared.info.cached_samples, options.seed);
}

}  // namespace

PreparedWorkload prepare(const SweepOptions& options, const Preparation& preparation) {
  const TrainingDevice device = choose_device(options.device);
  PreparedWorkload prepared = find_or_make(options, device, preparation);
  place_data(prepared, options, preparation);
  if (preparation.cached_samples == 0) preparation.fit(prepared, options, device);
  return prepared;
}

}  // namespace feedrate
