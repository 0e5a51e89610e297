// SPDX-License-Identifier: Apache-2.0
#include "request/requested_axes.hpp"

#include <algorithm>

namespace feedrate {
namespace {

constexpr int most_threads = 1024;

template <class T>
std::vector<T> parse_values(const Axis<T>& axis, std::string_view flag, std::string_view text) {
  if constexpr (std::is_same_v<T, int>) {
    const int least = axis.field == &Config::workers ? 0 : 1;
    return parse_integers(flag, text, least,
                          axis.field == &Config::batch ? most_batch : most_threads);
  } else if constexpr (std::is_same_v<T, bool>) {
    return parse_switches(flag, text);
  } else if constexpr (std::is_same_v<T, Precision>) {
    return parse_precisions(flag, text);
  } else {
    return parse_preprocess(flag, text);
  }
}

}  // namespace

void RequestedAxes::read(std::string_view name, std::string_view flag, const std::string& text) {
  for_each_axis_of(values_, [&](const auto& axis, auto& values) {
    if (axis.name != name) return;
    values = parse_values(axis, flag, text);
    first_.*axis.field = parse_values(axis, flag, text.substr(0, text.find_first_of(",:"))).front();
  });
}

void RequestedAxes::put_into(Space& space) const {
  for_each_axis_of(space, [&](const auto& axis, auto& all) {
    for_each_axis_of(values_, [&](const auto& known, const auto& values) {
      if constexpr (std::is_same_v<decltype(known.field), decltype(axis.field)>) {
        if (known.field == axis.field && !values.empty()) all = values;
      }
    });
  });
}

void RequestedAxes::put_first_into(Config& config) const {
  for_each_axis_of(values_, [&](const auto& axis, const auto& values) {
    if (!values.empty()) config.*axis.field = first_.*axis.field;
  });
}

}  // namespace feedrate
