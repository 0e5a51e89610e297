// SPDX-License-Identifier: Apache-2.0
// Reads the command line of a run into a request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "request/request.hpp"

namespace feedrate {

/// Reads the words behind the program's name; the help lists `verbs`. Prints the help or the
/// version where that is asked for, and is empty then. Throws Error(usage) on values that mean
/// nothing, and on options that don't go together.
std::optional<TuneRequest> parse_request(const std::vector<std::string>& words,
                                         const std::vector<VerbSummary>& verbs = {});

}  // namespace feedrate
