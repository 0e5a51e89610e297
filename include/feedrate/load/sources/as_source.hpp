// SPDX-License-Identifier: Apache-2.0
// A source of whatever a caller has: a source, or a dataset by value or by shared_ptr.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "feedrate/load/source.hpp"

namespace feedrate::inline v0 {

/// A dataset by value, or a pointer to one or to a source.
template <class D>
concept SourceLike = Dataset<D> || requires(const D& pointer) {
  { pointer->size() } -> std::convertible_to<std::size_t>;
  { pointer->layout() } -> std::convertible_to<Layout>;
};

namespace detail {

template <SourceLike D>
std::shared_ptr<const Source> as_source(D dataset) {
  if constexpr (std::is_convertible_v<D, std::shared_ptr<const Source>>) {
    return dataset;
  } else {
    return make_source(std::move(dataset));
  }
}

}  // namespace detail

}  // namespace feedrate::inline v0
