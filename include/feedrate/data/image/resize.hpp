// SPDX-License-Identifier: Apache-2.0
// Antialiased bilinear resizing, row by row, without storing the whole picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "feedrate/data/image/resize_simd.hpp"
#include "feedrate/data/image/resize_weights.hpp"
#include "feedrate/data/image/view.hpp"
#include "feedrate/data/scratch.hpp"

namespace feedrate::inline v0 {

/// Resizes one picture after another; a thread keeps one and uses it again.
///
/// Each source row is resized along x as soon as it comes, into a ring of as many rows as the
/// filter is tall; each output row is mixed from that ring. All of it stays in the cache.
class Resizer {
 public:
  explicit Resizer(const detail::ResizeKernels& kernels = detail::best_kernels()) noexcept
      : kernels_(&kernels) {}

  /// Prepares for a view; x runs backwards if it is mirrored.
  void begin(const StoredView& view) {
    x_.make(view.x, view.mirror_columns);
    y_.make(view.y, false);
    stride_ = static_cast<std::size_t>((x_.count() + 7) & ~7) * 4;
    detail::grow(ring_, stride_ * static_cast<std::size_t>(y_.taps()));
    detail::grow(rows_, static_cast<std::size_t>(y_.taps()));
    detail::grow(output_, stride_);
  }

  int first_column() const noexcept { return x_.begin(); }
  int first_row() const noexcept { return y_.begin(); }
  int columns() const noexcept { return x_.end() - x_.begin(); }
  int rows() const noexcept { return y_.end() - y_.begin(); }

  /// Bytes that may be read beyond the last source pixel of a row.
  std::size_t overhang_bytes() const noexcept { return static_cast<std::size_t>(x_.taps()) * 4; }

  /// Pulls rows() source rows by `next_row()`, which returns the RGBX pixel at first_column(), and
  /// calls `write_row(rgbx, i)` for each output row i in order.
  template <class NextRow, class WriteRow>
  void run(NextRow&& next_row, WriteRow&& write_row) {
    int ready = 0;
    for (int i = 0; i < y_.count(); ++i) {
      const int needed = needed_rows(i);
      for (; ready < needed; ++ready) squeeze(next_row(), ready);
      mix(i);
      write_row(static_cast<const std::uint8_t*>(output_.data()), i);
    }
  }

 private:
  std::int16_t* ring_row(int row) noexcept {
    return ring_.data() + static_cast<std::size_t>(row % y_.taps()) * stride_;
  }

  const std::int16_t* weights_of(int i) const noexcept {
    return y_.weights() + static_cast<std::ptrdiff_t>(i) * y_.taps();
  }

  /// One past the last source row with a weight in output row i.
  int needed_rows(int i) const noexcept {
    int last = y_.taps();
    while (last > 1 && weights_of(i)[last - 1] == 0) --last;
    return y_.first()[i] + last;
  }

  void squeeze(const std::uint8_t* row, int at) {
    kernels_->horizontal(row, x_.first(), x_.weights(), x_.taps(), x_.count(), ring_row(at));
  }

  void mix(int i) {
    const int first = y_.first()[i];
    const int taps = (needed_rows(i) - first + 1) & ~1;
    for (int t = 0; t < taps; ++t) rows_[static_cast<std::size_t>(t)] = ring_row(first + t);
    kernels_->vertical(rows_.data(), weights_of(i), taps, (x_.count() + 7) & ~7, output_.data());
  }

  const detail::ResizeKernels* kernels_;
  detail::ResizeWeights x_, y_;
  std::vector<std::int16_t> ring_;
  std::vector<const std::int16_t*> rows_;
  std::vector<std::uint8_t> output_;
  std::size_t stride_ = 0;
};

}  // namespace feedrate::inline v0
