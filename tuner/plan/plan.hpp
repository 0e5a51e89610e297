// SPDX-License-Identifier: Apache-2.0
// The plan: the meaning of the command line on this machine for this workload.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "feedrate/machine/limits.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/tune/state/sweep.hpp"
#include "request/request.hpp"
#include "workload/device.hpp"

namespace feedrate {

/// What a plan has to know of the workload. Nothing is known of one that is not prepared yet: then
/// a plan checks what holds for every workload.
struct PlannedWorkload {
  std::vector<int> batches = {};            ///< the default axis; empty: unknown
  std::optional<std::size_t> samples = {};  ///< of its dataset, that trials use
  std::size_t left_out = 0;                 ///< others of it, which trials leave out
  std::optional<bool> pixels = {};          ///< bytes, which host or device turns into floats
  std::optional<std::uint64_t> device_free_bytes = {};  ///< of a GPU's memory
  std::size_t largest_batch = most_batch;               ///< that the device's step takes
};

/// What was prepared; `batches` are the default axis.
inline PlannedWorkload planned(const WorkloadInfo& info, std::vector<int> batches) {
  PlannedWorkload workload{
      .batches = std::move(batches),
      .samples = info.cached_samples,
      .left_out = std::max(info.samples, info.cached_samples) - info.cached_samples,
      .pixels = info.pixels,
      .largest_batch = info.largest_batch};
  if (info.device_free_bytes > 0) workload.device_free_bytes = info.device_free_bytes;
  return workload;
}

/// The search over a pipeline of feedrate's own. On a GPU the default batches are thinned. Throws
/// Error(usage) where no value of an axis is left, Error(device) on a device that can't do what is
/// asked.
TuneOptions plan_sweep(const TuneRequest& request, const Limits& limits,
                       const TrainingDevice& device, const PlannedWorkload& workload);

/// For the objective mfu: the products' FLOP/s that were measured on the device. Throws
/// Error(usage) where that of the reference is not known.
void add_peaks(TuneOptions& plan, const std::map<Precision, double>& flops_per_s);

}  // namespace feedrate
