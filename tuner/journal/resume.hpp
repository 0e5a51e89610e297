// SPDX-License-Identifier: Apache-2.0
// Finds the journal of a killed run, and the options that it ran with.
#pragma once

#include "journal/journal.hpp"
#include "journal/recorded.hpp"
#include "request/request.hpp"

namespace feedrate {

/// A run to go on with.
struct Resumption {
  TuneRequest request;  ///< the run's own; how it is shown is asked for anew
  JournalFile journal;  ///< locked before it was read; its path is absolute
  Recorded recorded;
};

/// Locks and reads the journal that `asked.resume` names, itself or by its report, and goes to the
/// folder in which the run began. Throws Error(usage) where that run can't be gone on with here.
Resumption open_resumption(const TuneRequest& asked);

}  // namespace feedrate
