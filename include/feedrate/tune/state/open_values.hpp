// SPDX-License-Identifier: Apache-2.0
// The values of an axis that a sweep may still run.
#pragma once

#include <cstddef>
#include <set>

#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// The values of an axis among the trials that may be run, with so many workers or more.
template <class Value>
std::set<Value> open_values(const Sweep& sweep, Value Config::*axis, int least_workers = 0) {
  std::set<Value> values;
  for (std::size_t t = 0; t < sweep.outcome().trials.size(); ++t) {
    const Config& config = sweep.trial(t).config;
    if (sweep.is_open(t) && config.workers >= least_workers) values.insert(config.*axis);
  }
  return values;
}

}  // namespace feedrate::inline v0
