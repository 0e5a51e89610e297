// SPDX-License-Identifier: Apache-2.0
// A step's view of a device: it runs a body for each element, or for each row by a group.
#pragma once

#include <concepts>
#include <cstddef>

namespace feedrate::inline v0 {

/// The lanes that share one row: c = lane(), lane() + lanes(), ... are this lane's elements.
/// `sum` and `max` combine one value of each lane and give all of them the result.
template <class G>
concept Group = requires(const G& group, float value) {
  { group.lane() } -> std::convertible_to<std::size_t>;
  { group.lanes() } -> std::convertible_to<std::size_t>;
  { group.sum(value) } -> std::convertible_to<float>;
  { group.max(value) } -> std::convertible_to<float>;
};

/// A body for `for_each`: f(i) touches only what belongs to element i.
struct AnyElementBody {
  void operator()(std::size_t) const noexcept {}
};

/// A body for `for_rows`: f(group, row) touches only what belongs to that row.
struct AnyRowBody {
  void operator()(const auto&, std::size_t) const noexcept {}
};

/// A device that runs bodies in the order in which they were given.
template <class D>
concept Device = requires(const D& device, std::size_t n) {
  device.for_each(n, AnyElementBody{});
  device.for_rows(n, AnyRowBody{});
};

}  // namespace feedrate::inline v0
