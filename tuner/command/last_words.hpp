// SPDX-License-Identifier: Apache-2.0
// The last output of a command, for the sentence on its failure.
#pragma once

#include <string>

namespace feedrate {

/// "; it printed last: "..."" or "; it printed nothing".
std::string last_words(const std::string& output);

}  // namespace feedrate
