// SPDX-License-Identifier: Apache-2.0
// Values of an axis that can't be tried are taken out of a plan, and that is said.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/tune/state/options.hpp"

namespace feedrate {

/// No value of an axis can be tried: the last one, and why.
class NoneApplicable : public Error {
 public:
  explicit NoneApplicable(NotApplicable last)
      : Error(Fault::usage,
              "No value of " + flag_of(last.axis) + " can be used: " + last.why + "."),
        last_(std::move(last)) {}

  const NotApplicable& last() const noexcept { return last_; }

 private:
  static std::string flag_of(const std::string& axis) {
    std::string flag = "--" + axis;
    std::replace(flag.begin(), flag.end(), '_', '-');
    return flag;
  }

  NotApplicable last_;
};

/// Takes out the values that `fits` refuses and says so. Throws NoneApplicable where none is left.
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
  if (values.empty()) throw NoneApplicable(plan.not_applicable.back());
}

}  // namespace feedrate
