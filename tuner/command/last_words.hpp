// SPDX-License-Identifier: Apache-2.0
// What a command printed last, for the sentence that says how it failed.
#pragma once

#include <string>

namespace feedrate {

/// "; it printed last: "..."" or "; it printed nothing".
std::string last_words(const std::string& output);

}  // namespace feedrate
