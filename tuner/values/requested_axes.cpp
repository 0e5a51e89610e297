// SPDX-License-Identifier: Apache-2.0
#include "values/requested_axes.hpp"

#include "values/axes.hpp"

namespace feedrate {

void RequestedAxes::read(std::string_view name, const std::string& text) {
  const std::string flag = flag_of(name);
  for_each_axis_of(values_, [&](const auto& axis, auto& values) {
    if (axis.name != name) return;
    values = parse_values(axis, flag, text);
    first_.*axis.field = parse_values(axis, flag, text.substr(0, text.find_first_of(",:"))).front();
  });
}

void RequestedAxes::put_into(Space& space) const {
  for_each_axis_of(space, [&](const auto& axis, auto& values) {
    if (has(axis.field)) values = values_.*axis.values;
  });
}

void RequestedAxes::put_first_into(Config& config) const {
  for_each_axis_of(values_, [&](const auto& axis, const auto& values) {
    if (!values.empty()) config.*axis.field = first_.*axis.field;
  });
}

Space RequestedAxes::no_values() {
  Space space;
  for_each_axis_of(space, [](const auto&, auto& values) { values.clear(); });
  return space;
}

}  // namespace feedrate
