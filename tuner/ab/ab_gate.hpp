// SPDX-License-Identifier: Apache-2.0
// The gate of a comparison: what it has come to, for the writers.
#pragma once

#include "ab/ab_session.hpp"
#include "feedrate/report/gate/gate.hpp"

namespace feedrate {

/// Adds metrics, runs and notes. A planted loss is a requirement: that it is found.
void add_outcome(Gate& gate, const AbRequest& request, const AbOutcome& outcome);

}  // namespace feedrate
