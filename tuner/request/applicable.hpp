// SPDX-License-Identifier: Apache-2.0
// Removes values of an axis that can't be tried from a plan, with a reason.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/axes.hpp"
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

/// Keeps the default of each axis for which `why_not(axis)` says why it does not apply here.
template <class WhyNot>
void keep_defaults(TuneOptions& plan, WhyNot&& why_not) {
  for_each_axis_of(plan.space, [&](const auto& axis, auto& values) {
    const std::string why(why_not(axis));
    if (why.empty()) return;
    keep_applicable(plan, std::string(axis.name), values, why,
                    [&](auto value) { return value == Config{}.*axis.field; });
  });
}

}  // namespace feedrate
