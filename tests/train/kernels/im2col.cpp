// SPDX-License-Identifier: Apache-2.0
// Tests of the columns of convolutions as bodies: they are those that the CPU's walk makes.
#include "feedrate/train/kernels/im2col.hpp"

#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/train/cpu/columns.hpp"
#include "feedrate/train/cpu/cpu.hpp"
#include "feedrate/train/kernels/pack.hpp"
#include "image_shapes.hpp"

namespace feedrate::im2col_tests {
using feedrate::test::convolutions;

namespace {

constexpr std::size_t images = 3;

}  // namespace

TEST_CASE("Columns are those of the CPU's walk, followed by zeros") {
  // Bug: padding on the wrong side, a hole between two rows that keeps what was there, or an image
  // read from its neighbour.
  for (const Block& block : convolutions()) {
    std::vector<float> x(images * block.in.elements());
    std::iota(x.begin(), x.end(), 1.0f);
    const std::size_t rows = images * block.raw.pixels(), depth = block.depth();
    std::vector<float> expected(rows * depth);
    read_columns(block, x.data(), {0, images * block.raw.height}, expected.data());
    for (std::size_t leading : {depth, depth + 3}) {
      std::vector<float> columns(rows * leading, -7.0f);
      const ReadColumns<float> body{ColumnGeometry(block, leading), x.data(), columns.data()};
      Cpu{}.for_rows(rows, body);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::size_t row = i / leading, e = i % leading;
        REQUIRE(columns[i] == (e < depth ? expected[row * depth + e] : 0.0f));
      }
    }
  }
}

TEST_CASE("Channels that are moved eight at a time give the same columns") {
  // Bug: one of the extents is counted in channels and another in packs.
  using Access = Pack<Float16>;
  for (const Block& block : convolutions()) {
    if (block.in.channels % 8 != 0) continue;
    const std::size_t rows = images * block.raw.pixels(), leading = block.depth() + 8;
    std::vector<Access> x(images * block.in.elements() / 8), wide(rows * leading / 8);
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (int j = 0; j < 8; ++j) x[i].at[j] = Float16(float(i % 200) + float(j));
    }
    std::vector<Float16> narrow(rows * leading, Float16(-7.0f));
    Cpu{}.for_rows(rows,
                   ReadColumns<Access>{ColumnGeometry(block, leading, 8), x.data(), wide.data()});
    Cpu{}.for_rows(
        rows, ReadColumns<Float16>{ColumnGeometry(block, leading), x.front().at, narrow.data()});
    for (std::size_t i = 0; i < narrow.size(); ++i) REQUIRE(wide[i / 8].at[i % 8] == narrow[i]);
  }
}

TEST_CASE("Elements that are written several at a time give the same columns") {
  // Bug: a run that ends within a unit goes on in the wrong line, or the zeros behind the depth.
  constexpr int together = 4;
  for (const Block& block : convolutions()) {
    const std::size_t rows = images * block.raw.pixels();
    const std::size_t leading = (block.depth() + 11) / together * together;
    std::vector<float> x(images * block.in.elements());
    std::iota(x.begin(), x.end(), 1.0f);
    std::vector<float> narrow(rows * leading, -7.0f);
    std::vector<Pack<float, together>> wide(rows * leading / together);
    Cpu{}.for_rows(rows,
                   ReadColumns<float>{ColumnGeometry(block, leading), x.data(), narrow.data()});
    Cpu{}.for_each(wide.size(), GatherColumns<float, together>(ColumnGeometry(block, leading),
                                                               x.data(), wide.front().at));
    for (std::size_t i = 0; i < narrow.size(); ++i) {
      REQUIRE(wide[i / together].at[i % together] == narrow[i]);
    }
  }
}

TEST_CASE("Summing columns is the transpose of reading them, and writes every element") {
  // Bug: a window is left out at an edge, or an input that no window reads keeps what was there.
  Random random(3, 0, 0);
  for (const Block& block : convolutions()) {
    const std::size_t rows = images * block.raw.pixels(), leading = block.depth() + 2;
    std::vector<float> columns(rows * leading), dense(rows * block.depth());
    for (float& c : columns) c = random.uniform(-1, 1);
    for (std::size_t i = 0; i < dense.size(); ++i) {
      dense[i] = columns[i / block.depth() * leading + i % block.depth()];
    }
    std::vector<float> expected(images * block.in.elements()), dx(expected.size(), -7.0f);
    add_columns(block, dense.data(), {0, images * block.raw.height}, expected.data());
    const SumColumns<float> body(ColumnGeometry(block, leading), columns.data(), dx.data());
    Cpu{}.for_rows(images * block.in.pixels(), body);
    // Sums of at most 49 terms below 1, in two orders.
    for (std::size_t i = 0; i < dx.size(); ++i) REQUIRE(std::abs(dx[i] - expected[i]) < 1e-5f);
  }
}

TEST_CASE("Channels that are summed several at a time give the same sums") {
  // Bug: one of the extents is counted in channels and another in packs.
  for (const Block& block : convolutions()) {
    if (block.in.channels % 4 != 0) continue;
    const std::size_t rows = images * block.raw.pixels(), leading = block.depth() + 4;
    std::vector<Pack<float, 4>> columns(rows * leading / 4);
    std::vector<Pack<float, 4>> wide(images * block.in.elements() / 4);
    for (std::size_t i = 0; i < columns.size() * 4; ++i) columns[i / 4].at[i % 4] = float(i % 97);
    std::vector<float> narrow(wide.size() * 4, -7.0f);
    const float* const from = columns.front().at;
    Cpu{}.for_rows(images * block.in.pixels(),
                   SumColumns<float, 4>(ColumnGeometry(block, leading, 4), from, wide.front().at));
    Cpu{}.for_rows(images * block.in.pixels(),
                   SumColumns<float>(ColumnGeometry(block, leading), from, narrow.data()));
    for (std::size_t i = 0; i < narrow.size(); ++i) REQUIRE(wide[i / 4].at[i % 4] == narrow[i]);
  }
}

}  // namespace feedrate::im2col_tests
