// SPDX-License-Identifier: Apache-2.0
// The values that the command line gives for the axes.
#pragma once

#include <string>
#include <string_view>

#include "feedrate/core/axes.hpp"

namespace feedrate {

/// The values of each axis, ascending; none if the command line does not name the axis.
class RequestedAxes {
 public:
  /// Reads the values of an axis. Throws Error(usage) with the flag.
  void read(std::string_view axis, const std::string& text);

  /// Fixes an axis to one value.
  template <class T>
  void fix(const Axis<T>& axis, T value) {
    if (axis.values) values_.*axis.values = {value};
    first_.*axis.field = value;
  }

  /// Whether the command line names the axis.
  template <class T>
  bool has(T Config::*field) const {
    const auto axis = axis_of(field);
    return axis.values && !(values_.*axis.values).empty();
  }

  /// Replaces the values of the axes that the command line names.
  void put_into(Space& space) const;

  /// Replaces the value of each named axis by the one that was written first.
  void put_first_into(Config& config) const;

 private:
  Space values_ = no_values();
  Config first_;

  static Space no_values();
};

}  // namespace feedrate
