// SPDX-License-Identifier: Apache-2.0
// Memory that a thread reuses for every sample: it grows to the largest size and stays.
#pragma once

#include <cstddef>
#include <vector>

namespace feedrate::inline v0::detail {

/// Makes `buffer` at least `count` long and returns its start; allocates only when it must grow.
template <class T>
T* grow(std::vector<T>& buffer, std::size_t count) {
  if (buffer.size() < count) buffer.resize(count);
  return buffer.data();
}

}  // namespace feedrate::inline v0::detail
