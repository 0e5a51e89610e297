// SPDX-License-Identifier: Apache-2.0
// What-ifs as JSON.
#pragma once

#include "feedrate/report/json/trial_json.hpp"
#include "feedrate/report/text/what_if_text.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {

/// One object for each cost that was taken away from one config.
inline Json what_if_json(const Outcome& outcome) {
  Json rows = Json::array();
  for (const WhatIf& row : outcome.what_if) {
    rows.push_back({{"name", row.name},
                    {"what", what_if_meaning(row.name)},
                    {"config", to_json(row.config)},
                    {"samples_per_s", row.samples_per_s},
                    {"speedup", to_json(row.speedup)}});
  }
  return rows;
}

}  // namespace feedrate::inline v0
