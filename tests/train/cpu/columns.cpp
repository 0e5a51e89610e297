// SPDX-License-Identifier: Apache-2.0
// Tests of the columns of convolutions.
#include "feedrate/train/cpu/columns.hpp"

#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <vector>

#include "image_shapes.hpp"

namespace feedrate::columns_tests {
using feedrate::test::convolutions;

namespace {

/// The input element of column element i, counted from all lines; -1 in the padding.
std::ptrdiff_t source(const Block& b, std::size_t i) {
  const auto part = [&i](std::size_t extent) {
    const std::size_t value = i % extent;
    i /= extent;
    return value;
  };
  const std::size_t c = part(b.in.channels), kx = part(b.kernel), ky = part(b.kernel);
  const std::size_t x = part(b.raw.width), y = part(b.raw.height), image = i;
  const std::size_t row = y * b.stride + ky - b.padding, column = x * b.stride + kx - b.padding;
  if (row >= b.in.height || column >= b.in.width) return -1;
  const std::size_t line = image * b.in.height + row;
  return std::ptrdiff_t((line * b.in.width + column) * b.in.channels + c);
}

}  // namespace

TEST_CASE("Each column element is the input that its formula says, whichever lines are asked for") {
  // Bug: padding on the wrong side, or the second image is read from the first.
  for (const Block& block : convolutions()) {
    std::vector<float> x(2 * block.in.elements());
    std::iota(x.begin(), x.end(), 1.0f);
    const std::size_t row = block.raw.width * block.kernel * block.kernel * block.in.channels;
    for (std::size_t first = 0; first < 2 * block.raw.height; ++first) {
      const std::size_t count = std::min<std::size_t>(2, 2 * block.raw.height - first);
      std::vector<float> columns(count * row + 1, -7.0f);
      read_columns(block, x.data(), {first, count}, columns.data());
      for (std::size_t i = 0; i < count * row; ++i) {
        const std::ptrdiff_t from = source(block, first * row + i);
        REQUIRE(columns[i] == (from < 0 ? 0.0f : float(from + 1)));
      }
      REQUIRE(columns.back() == -7.0f);
    }
  }
}

TEST_CASE("Adding columns is the transpose of reading columns") {
  // Bug: the gradient of an input that several windows share is overwritten instead of summed.
  for (const Block& block : convolutions()) {
    const std::size_t row = block.raw.width * block.kernel * block.kernel * block.in.channels;
    std::vector<float> columns(2 * block.raw.height * row), x(2 * block.in.elements());
    std::iota(columns.begin(), columns.end(), 1.0f);
    std::vector<float> expected(x.size(), 1.0f);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::ptrdiff_t to = source(block, i);
      if (to >= 0) expected[static_cast<std::size_t>(to)] += columns[i];
    }
    std::ranges::fill(x, 1.0f);
    add_columns(block, columns.data(), {0, 2 * block.raw.height}, x.data());
    REQUIRE(x == expected);
  }
}

}  // namespace feedrate::columns_tests
