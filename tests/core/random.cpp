// SPDX-License-Identifier: Apache-2.0
// Tests of core/random.hpp.
#include "feedrate/core/random.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <vector>

using feedrate::philox;
using feedrate::Random;

using Block = std::array<std::uint32_t, 4>;

TEST_CASE("philox gives the known answers of Random123") {
  // Bug: a wrong constant, word order, or number of rounds. The three vectors are those of
  // "philox4x32 10" in tests/kat_vectors of the authors' Random123 distribution.
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(philox({ones, ones, ones, ones}, {ones, ones}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the same key gives the same numbers, however they are drawn") {
  // Bug: a sample whose numbers depend on what was drawn before, or on another object.
  Random first(7, 3, 11);
  Random second(7, 3, 11);
  std::vector<std::uint32_t> a, b;
  for (int i = 0; i < 10; ++i) a.push_back(first.next());
  Random other(7, 3, 12);
  for (int i = 0; i < 10; ++i) {
    other.next();
    b.push_back(second.next());
  }
  CHECK(a == b);
}

TEST_CASE("each part of the key changes the numbers") {
  // Bug: a part of the key that is dropped: the upper half of the seed or of the sample.
  const std::uint64_t high = std::uint64_t{1} << 32;
  std::set<std::uint32_t> firsts;
  firsts.insert(Random(0, 0, 0).next());
  firsts.insert(Random(1, 0, 0).next());
  firsts.insert(Random(high, 0, 0).next());
  firsts.insert(Random(0, 1, 0).next());
  firsts.insert(Random(0, 0, 1).next());
  firsts.insert(Random(0, 0, high).next());
  CHECK(firsts.size() == 6);
}

TEST_CASE("a long draw does not repeat, nor meet the draw of the next sample") {
  // Bug: a block that is handed out twice, or a counter that runs into that of another sample.
  std::set<std::uint64_t> pairs;
  for (const std::uint64_t sample : {0u, 1u}) {
    Random random(5, 0, sample);
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t high = random.next();
      pairs.insert(high << 32 | random.next());
    }
  }
  CHECK(pairs.size() == 40000);
}

TEST_CASE("uniform values fill the interval from 0 to 1 without reaching 1") {
  // Bug: a uniform value of 1, or one scaled by the wrong power of two.
  Random random(1, 2, 3);
  double sum = 0;
  float low = 1, high = 0;
  constexpr int draws = 100000;
  for (int i = 0; i < draws; ++i) {
    const float value = random.uniform();
    sum += value;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  CHECK(low >= 0);
  CHECK(high < 1);
  // P(no draw of 100,000 beyond 0.999) is exp(-100); the mean's standard deviation is 0.0009.
  CHECK(low < 0.001f);
  CHECK(high > 0.999f);
  CHECK(sum / draws > 0.495);
  CHECK(sum / draws < 0.505);
}

TEST_CASE("shuffle keeps every element and gives each order about as often") {
  // Bug: an element lost, or an order that never comes.
  std::map<std::vector<int>, int> seen;
  for (std::uint64_t sample = 0; sample < 6'000; ++sample) {
    Random random(1, 0, sample);
    std::vector<int> list = {1, 2, 3};
    shuffle(list, random);
    ++seen[list];
  }
  REQUIRE(seen.size() == 6);
  for (const auto& [order, count] : seen) {
    CHECK(std::accumulate(order.begin(), order.end(), 0) == 6);
    CHECK(count > 850);
    CHECK(count < 1'150);
  }
}

TEST_CASE("below(n) reaches every number under n about equally often, and no other") {
  // Bug: `below` that reaches n, or that favours a part of the range.
  Random random(9, 9, 9);
  std::array<int, 7> hits{};
  for (int i = 0; i < 70000; ++i) {
    const std::uint32_t value = random.below(7);
    REQUIRE(value < 7);
    ++hits[value];
  }
  // Each count is binomial with mean 10,000 and standard deviation 93: six of these either way.
  for (const int count : hits) {
    CHECK(count > 9440);
    CHECK(count < 10560);
  }
  CHECK(random.below(1) == 0);
}
