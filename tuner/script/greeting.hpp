// SPDX-License-Identifier: Apache-2.0
// The contents of the hook's greeting about a script.
#pragma once

#include "feedrate/report/json/machine_json.hpp"
#include "feedrate/report/script.hpp"

namespace feedrate {

/// The script that greets so, and that took `start_s` until its loop ran.
Script script_of(const Json& greeting, double start_s);

}  // namespace feedrate
