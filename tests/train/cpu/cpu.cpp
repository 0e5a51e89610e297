// SPDX-License-Identifier: Apache-2.0
// Tests of the device `cpu`.
#include "feedrate/train/cpu/cpu.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace feedrate::cpu_tests {

namespace {

struct Count {
  int* runs;
  void operator()(std::size_t i) const { ++runs[i]; }
};

struct CountRow {
  int* runs;
  template <class G>
  void operator()(const G& group, std::size_t row) const {
    runs[row] += static_cast<int>(group.lanes() + group.lane());
  }
};

}  // namespace

TEST_CASE("Each element and each row is visited once, by a group of one lane") {
  // Bug: a tail shorter than a vector is left out, or visited twice.
  for (std::size_t n : {0, 1, 7, 8, 9, 31, 100}) {
    std::vector<int> elements(n + 1), rows(n + 1), expected(n + 1, 1);
    expected[n] = 0;
    Cpu{}.for_each(n, Count{elements.data()});
    Cpu{}.for_rows(n, CountRow{rows.data()});
    REQUIRE(elements == expected);
    REQUIRE(rows == expected);
  }
}

TEST_CASE("An exception leaves a body that runs with the best vectors") {
  // Bug: the dispatch is marked noexcept, and a throw ends the process.
  REQUIRE_THROWS_AS(with_best_vectors([] { throw 1; }), int);
}

}  // namespace feedrate::cpu_tests
