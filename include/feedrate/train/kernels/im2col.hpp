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

/// The inputs of one output pixel: `kernel` runs of elements that lie side by side.
class ColumnWindow {
 public:
  FEEDRATE_HD ColumnWindow(const ColumnGeometry& of, std::uint32_t pixel) : of_(of) {
    const std::uint32_t line = of.by_line.quotient(pixel), image = of.by_image.quotient(line);
    const auto channels = static_cast<std::int64_t>(of.channels);
    top_ = std::int32_t(of.by_image.remainder(line)) * of.stride - of.padding;
    const auto left = std::int32_t(of.by_line.remainder(pixel)) * of.stride - of.padding;
    pitch_ = channels * of.width;
    begin_ = -left * channels;
    from_ = (std::int64_t(image) * of.height + top_) * pitch_ - begin_;
  }

  /// Element `j` of run `k`, 0 in the padding.
  template <class T>
  FEEDRATE_HD T read(const T* x, std::uint32_t k, std::uint32_t j) const {
    const std::int32_t line = top_ + std::int32_t(k);
    const bool inside =
        line >= 0 && line < std::int32_t(of_.height) && j >= begin_ && j < begin_ + pitch_;
    return inside ? x[from_ + k * pitch_ + j] : T{};
  }

 private:
  const ColumnGeometry& of_;
  std::int32_t top_;
  std::int64_t pitch_, begin_, from_;
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
    const ColumnWindow window(of, static_cast<std::uint32_t>(row));
    T* const to = columns + row * of.leading;
    for (auto e = static_cast<std::uint32_t>(group.lane()); e < of.leading;
         e += static_cast<std::uint32_t>(group.lanes())) {
      const std::uint32_t k = of.by_run.quotient(e);
      to[e] = e < of.depth ? window.read(x, k, e - k * of.by_run.divisor()) : T{};
    }
  }
};

/// The same where the channels are too few to be read together: each thread reads `together`
/// neighbouring elements of a row one by one, and writes them at once. `leading` must be a multiple
/// of `together`. For each element i of `columns`.
template <class T, int together>
struct GatherColumns {
  using Unit = Pack<T, together>;

  ColumnGeometry of;  ///< in elements
  Divider by_row;     ///< units of a row
  const T* x;
  Unit* columns;

  GatherColumns(const ColumnGeometry& geometry, const T* from, T* into)
      : of(geometry),
        by_row(geometry.leading / static_cast<std::uint32_t>(together)),
        x(from),
        columns(reinterpret_cast<Unit*>(into)) {}

  FEEDRATE_HD void operator()(std::size_t i) const {
    const auto unit = static_cast<std::uint32_t>(i);
    const ColumnWindow window(of, by_row.quotient(unit));
    std::uint32_t e = by_row.remainder(unit) * static_cast<std::uint32_t>(together);
    std::uint32_t k = of.by_run.quotient(e), j = e - k * of.by_run.divisor();
    Unit out;
    for (int at = 0; at < together; ++at, ++e, ++j) {
      if (j == of.by_run.divisor()) j = 0, ++k;
      out.at[at] = e < of.depth ? window.read(x, k, j) : T{};
    }
    columns[i] = out;
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
