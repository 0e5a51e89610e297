// SPDX-License-Identifier: Apache-2.0
// Values that are known for some configs.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "feedrate/core/config.hpp"

namespace feedrate {

template <class Value>
using ByConfig = std::vector<std::pair<Config, Value>>;

/// Null where nothing is known of the config.
template <class Value>
const Value* find(const ByConfig<Value>& known, const Config& config) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const auto& entry) { return entry.first == config; });
  return found == known.end() ? nullptr : &found->second;
}

}  // namespace feedrate
