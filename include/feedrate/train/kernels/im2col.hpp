// SPDX-License-Identifier: Apache-2.0
// The columns of a convolution as bodies for any device: each element gathers its inputs, so no two
// lanes write to one place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "feedrate/core/host_device.hpp"
#include "feedrate/train/kernels/divider.hpp"
#include "feedrate/train/kernels/pack.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0 {

/// Where the elements of columns come from. A row of columns belongs to one output pixel and
/// holds kernel x kernel x channels inputs, then zeros up to `leading`. Counts are of the unit
/// that is moved, which may be several channels at once.
struct ColumnGeometry {
  std::uint32_t height = 1, width = 1, channels = 1;  ///< of the input
  std::uint32_t depth = 1, leading = 1;               ///< of a row of columns
  std::int32_t kernel = 1, stride = 1, padding = 0;
  std::int32_t out_height = 1, out_width = 1;
  Divider by_line, by_image;  ///< output pixels: per line, and lines per image
  Divider by_run;             ///< elements of a row of columns that lie side by side in the input

  ColumnGeometry() = default;
  /// `together` channels are moved as one; it must divide both of them and `row_length`.
  ColumnGeometry(const Block& block, std::size_t row_length, std::size_t together = 1)
      : height(narrow(block.in.height)),
        width(narrow(block.in.width)),
        channels(narrow(block.in.channels / together)),
        depth(narrow(block.depth() / together)),
        leading(narrow(row_length / together)),
        kernel(std::int32_t(block.kernel)),
        stride(std::int32_t(block.stride)),
        padding(std::int32_t(block.padding)),
        out_height(std::int32_t(block.raw.height)),
        out_width(std::int32_t(block.raw.width)),
        by_line(narrow(block.raw.width)),
        by_image(narrow(block.raw.height)),
        by_run(narrow(block.kernel * block.in.channels / together)) {}

 private:
  static std::uint32_t narrow(std::size_t value) noexcept {
    return static_cast<std::uint32_t>(value);
  }
};

/// columns[row, e] = the e-th input of output pixel `row`, 0 in the padding. T may be any type
/// that can be copied. For rows that are output pixels, counted through all images.
template <class T>
struct ReadColumns {
  ColumnGeometry of;
  const T* x;
  T* columns;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    const auto pixel = static_cast<std::uint32_t>(row);
    const std::uint32_t line = of.by_line.quotient(pixel), image = of.by_image.quotient(line);
    const auto top = std::int32_t(of.by_image.remainder(line)) * of.stride - of.padding;
    const auto left = std::int32_t(of.by_line.remainder(pixel)) * of.stride - of.padding;
    const auto channels = static_cast<std::int64_t>(of.channels);
    const std::int64_t begin = -left * channels, end = begin + channels * of.width;
    const std::int64_t pitch = channels * of.width;
    const std::int64_t from = (std::int64_t(image) * of.height + top) * pitch - begin;
    T* const to = columns + row * of.leading;
    for (auto e = static_cast<std::uint32_t>(group.lane()); e < of.leading;
         e += static_cast<std::uint32_t>(group.lanes())) {
      const std::uint32_t k = of.by_run.quotient(e), j = e - k * of.by_run.divisor();
      const bool inside = e < of.depth && top + std::int32_t(k) >= 0 &&
                          top + std::int32_t(k) < std::int32_t(of.height) && j >= begin && j < end;
      to[e] = inside ? x[from + k * pitch + j] : T{};
    }
  }
};

/// dx[pixel, c] = the sum of the elements of `columns` that were read from there. All of dx is
/// written. `together` channels are moved as one. For rows that are input pixels, counted through
/// all images.
template <class T, int together = 1>
struct SumColumns {
  using Unit = Pack<T, together>;

  ColumnGeometry of;            ///< in units
  Divider by_width, by_height;  ///< of the input
  const Unit* columns;
  Unit* dx;

  SumColumns(const ColumnGeometry& geometry, const T* from, T* into)
      : of(geometry),
        by_width(geometry.width),
        by_height(geometry.height),
        columns(reinterpret_cast<const Unit*>(from)),
        dx(reinterpret_cast<Unit*>(into)) {}

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    const auto pixel = static_cast<std::uint32_t>(row);
    const std::uint32_t line = by_width.quotient(pixel), image = by_height.quotient(line);
    const std::int32_t y = std::int32_t(by_height.remainder(line)) + of.padding;
    const std::int32_t x = std::int32_t(by_width.remainder(pixel)) + of.padding;
    const Range rows(y, of, of.out_height), across(x, of, of.out_width);
    for (auto c = static_cast<std::uint32_t>(group.lane()); c < of.channels;
         c += static_cast<std::uint32_t>(group.lanes())) {
      float sum[std::size_t{together}] = {};
      for (std::int32_t i = rows.first; i < rows.end; ++i) {
        const std::int64_t start = (std::int64_t(image) * of.out_height + i) * of.out_width;
        const std::int32_t k = (y - i * of.stride) * of.kernel + x;
        for (std::int32_t j = across.first; j < across.end; ++j) {
          const std::int64_t at = std::int64_t(k - j * of.stride) * of.channels + c;
          const Unit unit = columns[(start + j) * of.leading + at];
          for (int e = 0; e < together; ++e) sum[e] += static_cast<float>(unit.at[e]);
        }
      }
      Unit out;
      for (int e = 0; e < together; ++e) out.at[e] = T(sum[e]);
      dx[row * of.channels + c] = out;
    }
  }

 private:
  /// The outputs i of one direction whose window, i * stride to i * stride + kernel - 1, holds the
  /// padded coordinate `at`.
  struct Range {
    std::int32_t first, end;

    FEEDRATE_HD Range(std::int32_t at, const ColumnGeometry& of, std::int32_t outputs)
        : first(at < of.kernel ? 0 : (at - of.kernel) / of.stride + 1), end(at / of.stride + 1) {
      if (end > outputs) end = outputs;
    }
  };
};

}  // namespace feedrate::inline v0
