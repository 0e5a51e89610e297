// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/pixels.hpp: where each channel of each pixel goes, and how it is normalised.
#include "feedrate/data/image/pixels.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <vector>

#include "feedrate/data/image/resize_simd.hpp"

namespace feedrate::pixels_tests {

namespace {

constexpr int size = 13;

int level(int row, int column, int channel) {
  return (row * 19 + column * 7 + channel * 101) % 256;
}

/// An image of levels, written row by row.
template <class T>
std::vector<T> write(const PixelFormat& format, bool transpose) {
  std::vector<T> image(3 * size * size);
  const detail::PixelWriter writer(format, size, transpose, image.data(), detail::best_kernels());
  for (int row = 0; row < size; ++row) {
    std::vector<std::uint8_t> rgbx;
    for (int i = 0; i < 4 * size; ++i) {
      rgbx.push_back(static_cast<std::uint8_t>(level(row, i / 4, i % 4)));
    }
    writer.write_row(rgbx.data(), row);
  }
  return image;
}

std::size_t place(ChannelOrder order, int row, int column, int channel) {
  return static_cast<std::size_t>(order == ChannelOrder::nchw
                                      ? (channel * size + row) * size + column
                                      : (row * size + column) * 3 + channel);
}

}  // namespace

TEST_CASE("Every element goes to its place, for each order, type and turn") {
  // Bug: steps are swapped for one of the eight combinations.
  const auto order = GENERATE(ChannelOrder::nchw, ChannelOrder::nhwc);
  const bool transpose = GENERATE(false, true);
  PixelFormat format;
  format.order = order;
  const auto floats = write<float>(format, transpose);
  format.dtype = DType::u8;
  const auto bytes = write<std::uint8_t>(format, transpose);
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      for (int c = 0; c < 3; ++c) {
        const int expected = transpose ? level(column, row, c) : level(row, column, c);
        const std::size_t at = place(order, row, column, c);
        const auto k = static_cast<std::size_t>(c);
        REQUIRE(bytes[at] == expected);
        REQUIRE(std::abs(floats[at] - (static_cast<float>(expected) / 255 - format.mean[k]) /
                                          format.std[k]) < 1e-6);
      }
    }
  }
}

}  // namespace feedrate::pixels_tests
