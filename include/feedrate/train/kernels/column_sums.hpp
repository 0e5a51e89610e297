// SPDX-License-Identifier: Apache-2.0
// The sums of the columns of a tall matrix, which are the gradients of a bias, in two passes whose
// order of additions is always the same.
#pragma once

#include <algorithm>
#include <cstddef>

#include "feedrate/core/host_device.hpp"

namespace feedrate::inline v0 {

/// How a matrix is cut into parts of neighbouring rows.
struct RowParts {
  std::size_t rows, columns, parts;

  static constexpr std::size_t most_parts = 4096, most_sums = std::size_t{1} << 20;

  /// As many parts as fill a GPU, if their sums take at most 4 MiB.
  static RowParts of(std::size_t rows, std::size_t columns) noexcept {
    const std::size_t wanted = std::min({most_parts, most_sums / columns, (rows + 31) / 32});
    return {rows, columns, std::max<std::size_t>(wanted, 1)};
  }
};

/// sums[part, c] = the sum of x[row, c] over the part's rows. For rows that are parts.
template <class T>
struct SumParts {
  RowParts cut;
  const T* x;
  float* sums;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t part) const {
    const std::size_t begin = cut.rows * part / cut.parts, end = cut.rows * (part + 1) / cut.parts;
    for (std::size_t c = group.lane(); c < cut.columns; c += group.lanes()) {
      float sum = 0;
      for (std::size_t row = begin; row < end; ++row) {
        sum += static_cast<float>(x[row * cut.columns + c]);
      }
      sums[part * cut.columns + c] = sum;
    }
  }
};

/// total[c] = the sum of all parts, added to what is there where `add` says so. For rows that are
/// columns of x.
struct AddParts {
  RowParts cut;
  const float* sums;
  float* total;
  bool add;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t c) const {
    float sum = 0;
    for (std::size_t part = group.lane(); part < cut.parts; part += group.lanes()) {
      sum += sums[part * cut.columns + c];
    }
    sum = group.sum(sum);
    if (group.lane() == 0) total[c] = add ? total[c] + sum : sum;
  }
};

}  // namespace feedrate::inline v0
