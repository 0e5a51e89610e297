// SPDX-License-Identifier: Apache-2.0
// The plan: the meaning of the command line on this machine for this workload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "feedrate/machine/limits.hpp"
#include "feedrate/tune/state/sweep.hpp"
#include "request/options.hpp"
#include "workload/device.hpp"

namespace feedrate {

/// What a plan has to know of the workload.
struct PlannedWorkload {
  std::vector<int> batches;  ///< the default axis
  std::size_t samples = 0;   ///< of its dataset
  bool pixels = false;       ///< they are bytes, which host or device may turn into floats
  std::uint64_t device_free_bytes = 0;     ///< of a GPU's memory; 0: unknown
  std::size_t largest_batch = most_batch;  ///< that the device's step takes
};

/// Checks and translates everything but the data. On a GPU the default batches are thinned. Throws
/// Error(usage) on invalid values, Error(device) on a device that can't do what is
/// asked.
TuneOptions plan_sweep(const SweepOptions& options, const Limits& limits,
                       const TrainingDevice& device, const PlannedWorkload& workload);

/// For the objective mfu: the products' FLOP/s that were measured on the device. Throws
/// Error(usage) where that of the reference is not known.
void add_peaks(TuneOptions& plan, const std::map<Precision, double>& flops_per_s);

/// Throws what plan_sweep would throw whatever the workload: before minutes are spent on it.
void check_early(const SweepOptions& options, const Limits& limits, const TrainingDevice& device);

}  // namespace feedrate
