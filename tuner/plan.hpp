// SPDX-License-Identifier: Apache-2.0
// The plan: what the command line means on this machine for this workload.
#pragma once

#include <vector>

#include "feedrate/core/limits.hpp"
#include "feedrate/measure/product_rates.hpp"
#include "feedrate/tune/sweep.hpp"
#include "options.hpp"

namespace feedrate {

/// Checks and translates everything but the data. `batches` is the workload's default axis,
/// `samples` the size of its dataset. Throws Error(usage) on values that make no sense,
/// Error(device) on a device that is not to be had.
TuneOptions plan_sweep(const SweepOptions& options, const Limits& limits,
                       const std::vector<int>& batches, std::size_t samples);

/// For the objective mfu: what the machine multiplies at best, from its card. Throws Error(usage)
/// where that is not known.
void add_peaks(TuneOptions& plan, const std::vector<ProductRate>& products);

/// Throws what plan_sweep would throw whatever the workload: before minutes are spent on it.
void check_early(const SweepOptions& options, const Limits& limits);

}  // namespace feedrate
