// SPDX-License-Identifier: Apache-2.0
// The command line that gives a script other values, where its options or its environment set them.
#pragma once

#include <string>
#include <vector>

#include "feedrate/report/json/machine_json.hpp"

namespace feedrate {

/// The command as a shell takes it. `argv` are the words of the script itself: its file, or -m and
/// its module, and its arguments. `options` holds for each option the "words" that give it today,
/// which are replaced where they stand in the command, and the "given" ones, which else come last;
/// `environment` holds values by variable. Empty where both are. Where another program launches the
/// script, a sentence says which options the script needs.
std::string launch_text(std::vector<std::string> command, const std::vector<std::string>& argv,
                        const Json& options, const Json& environment);

}  // namespace feedrate
