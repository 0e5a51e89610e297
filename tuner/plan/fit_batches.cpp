// SPDX-License-Identifier: Apache-2.0
#include "plan/fit_batches.hpp"

#include "feedrate/machine/limits.hpp"
#include "plan/plan_gpu.hpp"

namespace feedrate {

void fit_batches(PreparedWorkload& prepared, const SweepOptions& options,
                 const TrainingDevice& device) {
  if (!device.gpu || !prepared.workload.device) return;
  const PlannedWorkload workload = {.batches = prepared.batches,
                                    .samples = prepared.info.cached_samples,
                                    .pixels = prepared.info.pixels,
                                    .device_free_bytes = prepared.info.device_free_bytes,
                                    .largest_batch = prepared.info.largest_batch};
  const Layout fields = prepared.workload.source->layout();
  const auto device_bytes = [&](const Config& config) {
    const BatchLayout layout(fields, static_cast<std::size_t>(config.batch));
    return prepared.workload.device->memory_bytes(config, layout);
  };
  const TuneOptions plan = plan_sweep(options, read_limits(), device, workload);
  prepared.batches = device_batches(plan, workload, device_bytes);
}

}  // namespace feedrate
