// SPDX-License-Identifier: Apache-2.0
// A convolution as a product: the inputs of each output pixel laid out as a row (im2col), and the
// way back (col2im). Images are height x width x channels, so both move runs of whole pixels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "feedrate/core/host_device.hpp"
#include "feedrate/train/cpu/cpu.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0 {

/// Some lines of the output of a convolution, counted through all images.
struct Lines {
  std::size_t first = 0, count = 0;
};

namespace detail {

/// The part of [start, start + length) that lies within [0, extent), relative to start.
struct Overlap {
  std::size_t begin, end;

  Overlap(std::ptrdiff_t start, std::size_t length, std::size_t extent) noexcept {
    const auto inside = [&](std::ptrdiff_t x) {
      return static_cast<std::size_t>(std::clamp(x, std::ptrdiff_t{0}, std::ptrdiff_t(length)));
    };
    begin = inside(-start);
    end = std::max(begin, inside(static_cast<std::ptrdiff_t>(extent) - start));
  }
};

/// Walks over the columns of some lines: run(column, x, n) for n elements that lie at x in the
/// images, hole(column, n) for n elements that lie in the padding. Both count elements.
template <class Run, class Hole>
class ColumnWalk {
 public:
  ColumnWalk(const Block& block, const Run& run, const Hole& hole) noexcept
      : block_(block), run_(run), hole_(hole) {}

  void walk(const Lines& lines) {
    for (std::size_t line = lines.first; line < lines.first + lines.count; ++line) {
      const std::size_t image = line / block_.raw.height;
      const auto top = offset(line % block_.raw.height);
      const Overlap rows(top, block_.kernel, block_.in.height);
      const std::ptrdiff_t from = std::ptrdiff_t(image * block_.in.height) + top;
      for (std::size_t x = 0; x < block_.raw.width; ++x) pixel(rows, from, offset(x));
    }
  }

 private:
  std::ptrdiff_t offset(std::size_t out) const noexcept {
    return std::ptrdiff_t(out * block_.stride) - std::ptrdiff_t(block_.padding);
  }

  void pixel(const Overlap& rows, std::ptrdiff_t top, std::ptrdiff_t left) {
    const std::size_t channels = block_.in.channels, length = block_.kernel * channels;
    const Overlap across(left, block_.kernel, block_.in.width);
    const std::size_t begin = across.begin * channels, end = across.end * channels;
    const std::size_t pitch = block_.in.width * channels;
    const std::ptrdiff_t first = (top + std::ptrdiff_t(rows.begin)) * std::ptrdiff_t(pitch) +
                                 (left + std::ptrdiff_t(across.begin)) * std::ptrdiff_t(channels);
    auto at = static_cast<std::size_t>(first);
    skip(rows.begin * length);
    for (std::size_t k = rows.begin; k < rows.end; ++k, at += pitch) {
      skip(begin);
      run_(column_, at, end - begin);
      column_ += end - begin;
      skip(length - end);
    }
    skip((block_.kernel - rows.end) * length);
  }

  void skip(std::size_t n) {
    if (n != 0) hole_(column_, n);
    column_ += n;
  }

  const Block block_;  // a copy: the compiler may then keep it in registers
  const Run& run_;
  const Hole& hole_;
  std::size_t column_ = 0;
};

}  // namespace detail

/// columns[lines x raw.width, depth] = the inputs of each output pixel, 0 in the padding.
template <class T>
void read_columns(const Block& block, const T* x, const Lines& lines, float* columns) {
  with_best_vectors([&] {
    const auto copy = [=](std::size_t column, std::size_t at, std::size_t n) {
      FEEDRATE_INDEPENDENT
      for (std::size_t i = 0; i < n; ++i) columns[column + i] = static_cast<float>(x[at + i]);
    };
    // A 3 x 3 kernel on grey images: setting up a loop would cost more than the three copies.
    const auto run = [=](std::size_t column, std::size_t at, std::size_t n) {
      n == 3 ? copy(column, at, 3) : copy(column, at, n);
    };
    const auto hole = [=](std::size_t column, std::size_t n) {
      std::memset(columns + column, 0, n * sizeof(float));
    };
    detail::ColumnWalk(block, run, hole).walk(lines);
  });
}

/// Adds each element of the columns to the input that it was read from.
inline void add_columns(const Block& block, const float* columns, const Lines& lines, float* x) {
  with_best_vectors([&] {
    const auto run = [=](std::size_t column, std::size_t at, std::size_t n) {
      FEEDRATE_INDEPENDENT
      for (std::size_t i = 0; i < n; ++i) x[at + i] += columns[column + i];
    };
    const auto hole = [](std::size_t, std::size_t) {};
    detail::ColumnWalk(block, run, hole).walk(lines);
  });
}

}  // namespace feedrate::inline v0
