// SPDX-License-Identifier: Apache-2.0
// Values of an axis that can't be tried are taken out of a plan, and that is said.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/tune/options.hpp"

namespace feedrate {

/// Takes out the values that `fits` refuses and says so; at least one must be left.
template <class T, class Fits>
void keep_applicable(TuneOptions& plan, const std::string& axis, std::vector<T>& values,
                     const std::string& why, Fits&& fits) {
  std::vector<T> kept;
  for (const T value : values) {
    if (fits(value)) {
      kept.push_back(value);
    } else {
      plan.not_applicable.push_back({axis, value_text(value), why});
    }
  }
  values = kept;
  if (!values.empty()) return;
  std::string flag = "--" + axis;
  std::replace(flag.begin(), flag.end(), '_', '-');
  throw Error(Fault::usage, "No value of " + flag + " can be used: " + why + ".");
}

}  // namespace feedrate
