// SPDX-License-Identifier: Apache-2.0
// The reference that --against names.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace feedrate {

/// The reference that --against asks for, empty without it: that of a plan for its values alone, so
/// that they are checked as every value is. Throws Error(usage) where it can't be run.
std::optional<Config> reference_against(const TuneRequest& request, const Limits& limits,
                                        const TrainingDevice& device,
                                        const PlannedWorkload& workload);

/// What --allow leaves out keeps the value of --against, whatever its axis names. Throws
/// Error(usage) where --max-batch forbids that.
void keep_against(TuneOptions& plan, const Constraints& constraints);

}  // namespace feedrate
