// SPDX-License-Identifier: Apache-2.0
// The values of an axis that a sweep may still run.
#pragma once

#include <cstddef>
#include <set>

#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// The values of an axis among the trials that may be run.
template <class Value>
std::set<Value> open_values(const Sweep& sweep, Value Config::*axis) {
  std::set<Value> values;
  for (std::size_t t = 0; t < sweep.outcome().trials.size(); ++t) {
    if (sweep.is_open(t)) values.insert(sweep.trial(t).config.*axis);
  }
  return values;
}

}  // namespace feedrate::inline v0
