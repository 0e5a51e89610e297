// SPDX-License-Identifier: Apache-2.0
// Names of metrics for formats that look values up by name: clean, not empty, and each only once.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "feedrate/report/gate/gate.hpp"
#include "feedrate/report/text/clean_text.hpp"

namespace feedrate::inline v0 {

/// In the order of the metrics. A name that came before gets " (2)", " (3)" and so on.
inline std::vector<std::string> unique_names(const Gate& gate) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const GateMetric& metric : gate.metrics) {
    const std::string clean = metric.name.empty() ? "unnamed" : clean_text(metric.name);
    std::string name = clean;
    for (std::size_t n = 2; !seen.insert(name).second; ++n) {
      name = clean + " (" + std::to_string(n) + ")";
    }
    names.push_back(name);
  }
  return names;
}

}  // namespace feedrate::inline v0
