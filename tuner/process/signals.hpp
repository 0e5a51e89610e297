// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first ends the run after the current round, the second ends it at once.
#pragma once

#include <atomic>

namespace feedrate {

/// Takes over SIGINT and SIGTERM; the flag becomes true at the first.
const std::atomic<bool>& watch_signals();

}  // namespace feedrate
