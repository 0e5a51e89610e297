// SPDX-License-Identifier: Apache-2.0
// Max-pooling fused with bias and ReLU: the bodies, forward and backward, for any device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "feedrate/core/host_device.hpp"
#include "feedrate/train/kernels/kernels.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0 {

/// The larger one; NaN wins, as in PyTorch.
FEEDRATE_HD inline float larger(float a, float b) {
  const float sure = b <= a ? a : b;
  return a != a ? a : sure;
}

/// Where the windows of a pooling lie: rows are the output's pixels, counted through all images.
struct PoolWindows {
  Image from, to;
  std::size_t kernel, stride;

  FEEDRATE_HD bool overlap() const { return stride < kernel; }

  /// True where each input element lies in exactly one window.
  FEEDRATE_HD bool tile() const {
    return stride == kernel && from.height % stride == 0 && from.width % stride == 0;
  }

  /// Index of the first element of the window of output pixel `row`.
  FEEDRATE_HD std::size_t first(std::size_t row) const {
    // 32 bits: a GPU divides them several times as fast, and no step has more pixels.
    const auto width = static_cast<std::uint32_t>(to.width);
    const auto height = static_cast<std::uint32_t>(to.height);
    const auto pixel = static_cast<std::uint32_t>(row), out_line = pixel / width;
    const std::size_t x = pixel % width, y = out_line % height, image = out_line / height;
    const std::size_t line = image * from.height + y * stride;
    return (line * from.width + x * stride) * from.channels;
  }

  /// Distance from there to element (y, x) of the window.
  FEEDRATE_HD std::size_t offset(std::size_t y, std::size_t x) const {
    return (y * from.width + x) * from.channels;
  }
};

inline PoolWindows windows_of(const Block& block) noexcept {
  return {block.raw, block.out, block.pool_kernel, block.pool_stride};
}

/// What is pooled: elements, and what is done with the largest of a window. The maximum comes
/// first: it commutes with adding a bias, to the last bit, and with ReLU.
template <class T>
struct Pooling {
  const T* x;
  const float* bias;
  PoolWindows windows;
  float floor;  ///< as `activate` takes it

  /// The output of channel c if its window's largest element is this one.
  FEEDRATE_HD T output(float element, std::size_t c) const {
    return T(activate(element + bias[c], floor));
  }
};

/// y[row, c] = activate(max over the window + bias[c]). For rows that are output pixels.
template <class T>
struct PoolForward {
  Pooling<T> of;
  T* y;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    if (of.windows.kernel == 2) {
      write<true>(group, row);
    } else {
      write<false>(group, row);
    }
  }

 private:
  /// Windows of 2 x 2 have a loop of their own: without loops inside it, it is vectorised.
  template <bool of_four, class Group>
  FEEDRATE_HD void write(const Group& group, std::size_t row) const {
    const std::size_t right = of.windows.offset(0, 1), down = of.windows.offset(1, 0);
    const std::size_t channels = of.windows.from.channels;
    const T* const from = of.x + of.windows.first(row);
    T* const to = y + row * channels;
    FEEDRATE_INDEPENDENT
    for (std::size_t c = group.lane(); c < channels; c += group.lanes()) {
      const float best = of_four ? largest_of_four(from + c, right, down) : largest(from + c);
      to[c] = of.output(best, c);
    }
  }

  FEEDRATE_HD static float largest_of_four(const T* from, std::size_t right, std::size_t down) {
    const float above = larger(static_cast<float>(from[0]), static_cast<float>(from[right]));
    const float below =
        larger(static_cast<float>(from[down]), static_cast<float>(from[down + right]));
    return larger(above, below);
  }

  FEEDRATE_HD float largest(const T* from) const {
    float best = static_cast<float>(from[0]);
    const std::size_t kernel = of.windows.kernel;
    for (std::size_t i = 1; i < kernel * kernel; ++i) {
      const std::size_t at = of.windows.offset(i / kernel, i % kernel);
      best = larger(best, static_cast<float>(from[at]));
    }
    return best;
  }
};

/// Passes dy[row, c] on to dx at the first element of the window that gave y[row, c], and uses dy
/// up: it becomes 0 where it was passed on. dx must be zero before, unless the windows tile it.
/// For rows that are output pixels; where windows overlap they add to the same place, so then rows
/// must not run at the same time.
template <class T, class Dx, class G = float>
struct PoolBackward {
  Pooling<T> of;
  const T* y;
  G* dy;
  Dx* dx;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    const std::size_t first = of.windows.first(row), kernel = of.windows.kernel;
    for (std::size_t i = 0; i < kernel * kernel; ++i) {
      const std::size_t at = first + of.windows.offset(i / kernel, i % kernel);
      if (of.windows.overlap()) {
        pass_on<true>(group, row, at);
      } else {
        pass_on<false>(group, row, at);
      }
    }
  }

 private:
  template <bool add, class Group>
  FEEDRATE_HD void pass_on(const Group& group, std::size_t row, std::size_t at) const {
    const std::size_t channels = of.windows.from.channels;
    const T* const from = of.x + at;
    const T* const max = y + row * channels;
    G* const gradient = dy + row * channels;
    Dx* const to = dx + at;
    FEEDRATE_INDEPENDENT
    for (std::size_t c = group.lane(); c < channels; c += group.lanes()) {
      const auto value = static_cast<float>(of.output(static_cast<float>(from[c]), c));
      // Products, because two choices by one condition become a branch, which isn't vectorised.
      const float share = static_cast<float>(max[c]) > value ? 0.0f : 1.0f;
      const float whole = static_cast<float>(gradient[c]);
      to[c] = Dx(share * whole + (add ? static_cast<float>(to[c]) : 0.0f));
      gradient[c] = G((1.0f - share) * whole);
    }
  }
};

}  // namespace feedrate::inline v0
