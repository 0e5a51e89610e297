// SPDX-License-Identifier: Apache-2.0
// The differences of a plan if a GPU trains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace feedrate {

/// The most configs that default axes span.
inline constexpr std::size_t most_configs = 4000;

/// Fills the axes that were not given by a GPU's defaults, takes out what this one can't do, and
/// sets the reference to what frameworks do with one.
void plan_gpu(TuneOptions& plan, const TuneRequest& request, const Gpu& gpu,
              const PlannedWorkload& workload);

/// The memory of the GPU that a plan may use: 90 % of what is free, or less where the user says so.
void limit_device_memory(TuneOptions& plan, std::optional<std::uint64_t> most_bytes,
                         std::optional<std::uint64_t> free_bytes);

/// Bytes of a GPU's memory that a config needs.
using DeviceBytes = std::function<std::uint64_t(const Config&)>;

/// Powers of two times the first of the workload's batches, as far as the step takes them, the
/// leanest precision of the plan fits into the device's memory, and the dataset reaches.
std::vector<int> device_batches(const TuneOptions& plan, const PlannedWorkload& workload,
                                const DeviceBytes& device_bytes);

/// At most 7 of the batches, among which are the smallest, the largest and the reference's.
std::vector<int> thinned_batches(const std::vector<int>& batches, int reference);

/// Leaves out default workers, as evenly as their ratios allow, until the space is small enough to
/// search; and says so.
void thin_workers(TuneOptions& plan);

}  // namespace feedrate
