// SPDX-License-Identifier: Apache-2.0
// The backward pass of a max-pooling with overlapping windows, from the inputs: each gathers from
// the windows that it won, so no two lanes write to one place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "feedrate/core/host_device.hpp"
#include "feedrate/train/kernels/kernels.hpp"
#include "feedrate/train/kernels/pooling.hpp"

namespace feedrate::inline v0 {

/// dx[row, c] = the sum of dy of all windows whose first largest element is x[row, c]. All of dx is
/// written, dy is only read. For rows that are input pixels, counted through all images.
template <class T, class G>
struct GatherPool {
  Pooling<T> of;
  const T* y;
  const G* dy;
  G* dx;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    const PoolWindows& windows = of.windows;
    const Image &from = windows.from, &to = windows.to;
    const auto width = static_cast<std::uint32_t>(from.width);
    const auto height = static_cast<std::uint32_t>(from.height);
    const auto pixel = static_cast<std::uint32_t>(row), line = pixel / width;
    const std::size_t across = pixel % width, down = line % height, image = line / height;
    for (std::size_t c = group.lane(); c < from.channels; c += group.lanes()) {
      float sum = 0;
      for (std::size_t i = first(down); i < to.height && i * windows.stride <= down; ++i) {
        for (std::size_t j = first(across); j < to.width && j * windows.stride <= across; ++j) {
          const std::size_t window = (image * to.height + i) * to.width + j;
          const std::size_t place =
              (down - i * windows.stride) * windows.kernel + across - j * windows.stride;
          sum += share(window, place, c);
        }
      }
      dx[row * from.channels + c] = G(sum);
    }
  }

 private:
  /// The first window that reaches a coordinate.
  FEEDRATE_HD std::size_t first(std::size_t at) const {
    const std::size_t kernel = of.windows.kernel;
    return at < kernel ? 0 : (at - kernel) / of.windows.stride + 1;
  }

  /// dy of a window if its element `place` is the first that gave its output, else 0.
  FEEDRATE_HD float share(std::size_t window, std::size_t place, std::size_t c) const {
    const PoolWindows& windows = of.windows;
    const std::size_t channels = windows.from.channels, start = windows.first(window) + c;
    const auto largest = static_cast<float>(y[window * channels + c]);
    for (std::size_t i = 0; i <= place; ++i) {
      const float element =
          static_cast<float>(of.x[start + windows.offset(i / windows.kernel, i % windows.kernel)]);
      const auto value = static_cast<float>(of.output(element, c));
      if (largest > value) continue;
      return i == place ? static_cast<float>(dy[window * channels + c]) : 0.0f;
    }
    return 0.0f;
  }
};

}  // namespace feedrate::inline v0
