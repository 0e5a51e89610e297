// SPDX-License-Identifier: Apache-2.0
// The sums of the columns of a tall matrix, which are the gradients of a bias, in two passes whose
// order of additions is always the same.
#pragma once

#include <algorithm>
#include <cstddef>

#include "feedrate/core/host_device.hpp"
#include "feedrate/train/kernels/pack.hpp"

namespace feedrate::inline v0 {

/// How a matrix is cut into parts of neighbouring rows.
struct RowParts {
  std::size_t rows, columns, parts;

  static constexpr std::size_t most_parts = 8192, most_sums = std::size_t{1} << 20;

  /// As many parts as fill a GPU, of 8 rows or more, if their sums take at most 4 MiB.
  static RowParts of(std::size_t rows, std::size_t columns) noexcept {
    const std::size_t wanted = std::min({most_parts, most_sums / columns, (rows + 7) / 8});
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

/// The same for columns that are a multiple of `pack_width`: a lane adds up that many of them, and
/// reads them at once.
template <class T>
struct SumPartsInPacks {
  RowParts cut;
  const T* x;
  float* sums;

  /// Whether `columns` is such a multiple.
  static bool fits(std::size_t columns) noexcept { return columns % pack_width == 0; }

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t part) const {
    const std::size_t begin = cut.rows * part / cut.parts, end = cut.rows * (part + 1) / cut.parts;
    const std::size_t packs = cut.columns / pack_width;
    for (std::size_t c = group.lane(); c < packs; c += group.lanes()) {
      Pack<float> sum{};
      for (std::size_t row = begin; row < end; ++row) {
        const Pack<T> some = pack_at(x, row * packs + c);
        for (int j = 0; j < pack_width; ++j) sum.at[j] += static_cast<float>(some.at[j]);
      }
      pack_at(sums, part * packs + c) = sum;
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
