// SPDX-License-Identifier: Apache-2.0
// The values that the command line gives for the axes.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "feedrate/core/space.hpp"
#include "request/axes.hpp"

namespace feedrate {

/// Calls `visit(axis, values)` for each axis that a space has values of.
template <class AnySpace, class Visit>
void for_each_axis_of(AnySpace&& space, Visit&& visit) {
  visit(axis_of(&Config::workers), space.workers);
  visit(axis_of(&Config::batch), space.batch);
  visit(axis_of(&Config::prefetch), space.prefetch);
  visit(axis_of(&Config::pinned), space.pinned);
  visit(axis_of(&Config::precision), space.precision);
  visit(axis_of(&Config::step_threads), space.step_threads);
  visit(axis_of(&Config::graph), space.graph);
  visit(axis_of(&Config::preprocess), space.preprocess);
}

/// The values of each axis, ascending; none where the command line does not name the axis.
class RequestedAxes {
 public:
  /// Reads the values of an axis. Throws Error(usage) naming the flag.
  void read(std::string_view axis, std::string_view flag, const std::string& text);

  /// Fixes an axis to one value.
  template <class T>
  void fix(const Axis<T>& axis, T value) {
    for_each_axis_of(values_, [&](const auto& known, auto& values) {
      if constexpr (std::is_same_v<decltype(known.field), T Config::*>) {
        if (known.field == axis.field) values = {value};
      }
    });
    first_.*axis.field = value;
  }

  /// Whether the command line names the axis.
  template <class T>
  bool has(T Config::*field) const {
    bool given = false;
    for_each_axis_of(values_, [&](const auto& known, const auto& values) {
      if constexpr (std::is_same_v<decltype(known.field), T Config::*>) {
        if (known.field == field) given = !values.empty();
      }
    });
    return given;
  }

  /// Replaces the values of the axes that the command line names.
  void put_into(Space& space) const;

  /// Replaces the value of each axis that the command line names by the one that was written first.
  void put_first_into(Config& config) const;

 private:
  Space values_{.workers = {},
                .prefetch = {},
                .pinned = {},
                .step_threads = {},
                .graph = {},
                .preprocess = {},
                .precision = {},
                .batch = {}};
  Config first_;
};

}  // namespace feedrate
