// SPDX-License-Identifier: Apache-2.0
// Tests of the sums of columns.
#include "feedrate/train/kernels/column_sums.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/train/cpu/cpu.hpp"

namespace feedrate::column_sums_tests {

TEST_CASE("Columns are summed over all rows, whatever their number, and added or set") {
  // Bug: the last part is cut short, or parts are summed into what a fresh array holds.
  Random random(6, 0, 0);
  for (std::size_t rows : {1, 2, 31, 33, 1000, 5000}) {
    for (std::size_t columns : {1, 3, 10}) {
      const RowParts cut = RowParts::of(rows, columns);
      REQUIRE(cut.parts >= 1);
      REQUIRE(cut.parts <= rows);
      std::vector<BFloat16> x(rows * columns);
      std::vector<double> expected(columns);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = BFloat16(random.uniform(-1, 1));
        expected[i % columns] += double{float(x[i])};
      }
      std::vector<float> sums(cut.parts * columns, NAN), total(columns, NAN);
      Cpu{}.for_rows(cut.parts, SumParts<BFloat16>{cut, x.data(), sums.data()});
      for (bool add : {false, true}) {
        Cpu{}.for_rows(columns, AddParts{cut, sums.data(), total.data(), add});
        for (std::size_t c = 0; c < columns; ++c) {
          const double wanted = (add ? 2 : 1) * expected[c];
          REQUIRE(std::abs(double{total[c]} - wanted) < 1e-4 * std::sqrt(double(rows)));
        }
      }
    }
  }
}

TEST_CASE("Parts that are summed in packs have the bits of those summed column by column") {
  // Bug: a pack of the next row, or columns behind the last whole pack that nobody sums.
  Random random(7, 0, 0);
  CHECK_FALSE(SumPartsInPacks<float>::fits(12));
  for (std::size_t rows : {1, 9, 1000}) {
    for (std::size_t columns : {8, 24, 264}) {
      REQUIRE(SumPartsInPacks<Float16>::fits(columns));
      const RowParts cut = RowParts::of(rows, columns);
      std::vector<Pack<Float16>> x(rows * columns / pack_width);
      std::vector<Pack<float>> packed(cut.parts * columns / pack_width);
      std::vector<float> sums(cut.parts * columns, NAN);
      for (Pack<Float16>& pack : x) {
        for (Float16& each : pack.at) each = Float16(random.uniform(-1, 1));
      }
      const SumPartsInPacks<Float16> body{cut, x.front().at, packed.front().at};
      Cpu{}.for_rows(cut.parts, body);
      Cpu{}.for_rows(cut.parts, SumParts<Float16>{cut, x.front().at, sums.data()});
      for (std::size_t i = 0; i < sums.size(); ++i) {
        REQUIRE(packed[i / pack_width].at[i % pack_width] == sums[i]);
      }
    }
  }
}

TEST_CASE("The sums of parts stay within 4 MiB, however wide the matrix") {
  // Bug: a scratch array that is as large as the activations.
  for (std::size_t columns : {1, 100, 4096, 1 << 21}) {
    const RowParts cut = RowParts::of(std::size_t{1} << 30, columns);
    REQUIRE((cut.parts == 1 || cut.parts * columns <= RowParts::most_sums));
  }
}

}  // namespace feedrate::column_sums_tests
