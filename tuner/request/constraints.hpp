// SPDX-License-Identifier: Apache-2.0
// The user's limits, and their effect on a plan.
#pragma once

#include <cstddef>

#include "feedrate/report/constraints.hpp"
#include "feedrate/tune/state/options.hpp"

namespace feedrate {

/// Whether --allow lets other batches than the reference's be recommended.
bool may_change_batch(const TuneOptions& plan);

/// Takes out of the space what --allow leaves out, and says so. Throws Error(usage) where no value
/// of an axis is left.
void drop_forbidden(TuneOptions& plan);

/// The batch to measure gains against, where the user fixed none: `usual`, or what is nearest to
/// it among those that the constraints and a dataset of `samples` allow.
int reference_batch(const Constraints& constraints, int usual, std::size_t samples);

/// Takes out of the space what the constraints forbid. Throws Error(usage) where nothing is left.
void constrain(TuneOptions& plan, const Constraints& constraints);

}  // namespace feedrate
