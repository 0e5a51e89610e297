// SPDX-License-Identifier: Apache-2.0
// What --price says.
#pragma once

#include <string>

#include "feedrate/report/price.hpp"

namespace feedrate {

/// "3.50/h", "3.50 EUR/h" or "$3.50/h". Throws Error(usage), naming the flag.
Price parse_price(const char* flag, const std::string& text);

}  // namespace feedrate
