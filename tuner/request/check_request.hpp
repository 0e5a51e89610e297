// SPDX-License-Identifier: Apache-2.0
// Which parts of a request go together, whatever machine and data there are.
#pragma once

#include <string>

#include "request/request.hpp"

namespace feedrate {

/// The precision that --what-if names. Throws Error(usage).
Precision parse_what_if(const std::string& text);

/// Throws Error(usage) on options that don't go together.
void check_request(const TuneRequest& request);

}  // namespace feedrate
