// SPDX-License-Identifier: Apache-2.0
// Tests of the memory of a step.
#include "feedrate/train/arena.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>

using feedrate::Arena;
using feedrate::Error;

TEST_CASE("An arena that was measured hands out the same arrays: zeroed, aligned, apart") {
  // Bug: two arrays overlap, or the second pass runs past what the first one measured.
  Arena arena;
  arena.take<char>(3);
  REQUIRE(arena.take<double>(5).empty());
  const std::size_t measured = arena.bytes();
  arena.allocate();
  const auto letters = arena.take<char>(3);
  const auto numbers = arena.take<double>(5);
  REQUIRE(arena.bytes() == measured);
  REQUIRE(letters.size() == 3);
  REQUIRE(std::ranges::count(numbers, 0.0) == 5);
  REQUIRE(reinterpret_cast<std::uintptr_t>(numbers.data()) % Arena::alignment == 0);
  REQUIRE(reinterpret_cast<char*>(numbers.data()) >= letters.data() + 3);
}

TEST_CASE("An arena refuses sizes that overflow and sizes that the machine lacks") {
  // Bug: the size wraps round, and a small block is written as if it were a huge one.
  Arena arena;
  REQUIRE_THROWS_AS(arena.take<double>(std::numeric_limits<std::size_t>::max() / 4), Error);
  arena.take<char>(std::size_t{1} << 46);
  REQUIRE_THROWS_AS(arena.allocate(), Error);
}
