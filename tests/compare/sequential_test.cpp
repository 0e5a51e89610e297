// SPDX-License-Identifier: Apache-2.0
#include "feedrate/compare/sequential_test.hpp"

#include <array>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <numbers>

#include "feedrate/core/random.hpp"

namespace feedrate::sequential_test_tests {
namespace {

/// Normal noise about a loss.
class Source {
 public:
  Source(double loss, double noise, std::uint64_t seed)
      : mean_(std::log1p(-loss)), noise_(noise), random_(seed, 3, 0) {}

  double operator()() {
    const double radius = std::sqrt(-2 * std::log(1 - random_.uniform()));
    return mean_ + noise_ * radius * std::cos(2 * std::numbers::pi * random_.uniform());
  }

 private:
  double mean_, noise_;
  Random random_;
};

Conclusion conclude(double loss, double noise, std::uint64_t seed) {
  SequentialTest test(1);
  Source source(loss, noise, seed);
  while (!test.is_over()) test.add(std::array{source()});
  return test.conclusion(0);
}

int count(Conclusion wanted, double loss, double noise, int tries) {
  int found = 0;
  for (int seed = 0; seed < tries; ++seed) {
    found += conclude(loss, noise, static_cast<std::uint64_t>(seed)) == wanted ? 1 : 0;
  }
  return found;
}

TEST_CASE("An unchanged program is no alarm, and passes", "[sequential]") {
  // Bug: a test that is asked again and again, until noise gives an alarm.
  CHECK(count(Conclusion::slower, 0, 0.05, 1000) == 0);
  CHECK(count(Conclusion::pass, 0, 0.05, 1000) >= 990);
}

TEST_CASE("A loss at the tolerance is an alarm in at most one run of a hundred", "[sequential]") {
  // Bug: a looser bound of the confirming blocks. The promise is 1 %; 2,000 tries may give 20.
  CHECK(count(Conclusion::slower, 0.03, 0.05, 2000) <= 20);
}

TEST_CASE("A loss of a tenth is found, and does not pass", "[sequential]") {
  // Bug: a pass by the estimate, and not by its bound.
  CHECK(count(Conclusion::slower, 0.1, 0.05, 1000) >= 950);
  CHECK(count(Conclusion::pass, 0.1, 0.05, 1000) <= 10);
}

TEST_CASE("Identical runs pass at the first look, and a planted loss is confirmed",
          "[sequential]") {
  // Bug: a standard error of zero divides something.
  SequentialTest same(1);
  CHECK(same.blocks_wanted() == 6);
  for (int block = 0; block < 6; ++block) same.add(std::array{0.0});
  CHECK(same.is_over());
  CHECK(same.conclusion(0) == Conclusion::pass);

  SequentialTest slower(1);
  for (int block = 0; block < 6; ++block) slower.add(std::array{-0.2});
  CHECK(slower.is_confirming());
  CHECK(slower.blocks_wanted() == 6);
  CHECK_FALSE(slower.is_over());
  for (int block = 0; block < 6; ++block) slower.add(std::array{-0.2});
  CHECK(slower.is_over());
  CHECK(slower.conclusion(0) == Conclusion::slower);
  CHECK(slower.blocks() == 12);
}

TEST_CASE("An alarm that fresh blocks don't confirm is none", "[sequential]") {
  // Bug: a slow quarter of an hour of the machine fails a build.
  SequentialTest test(1);
  for (int block = 0; block < 6; ++block) test.add(std::array{-0.2 + 0.001 * block});
  REQUIRE(test.is_confirming());
  for (int block = 0; block < 6; ++block) test.add(std::array{0.001 * block});
  CHECK_FALSE(test.is_confirming());
  CHECK(test.conclusion(0) == Conclusion::inconclusive);
  CHECK(test.blocks() == 12);
  CHECK(test.blocks_wanted() == 2);  // until the look at 14
}

TEST_CASE("A look that fresh blocks have passed is taken with them", "[sequential]") {
  // Bug: a program that surely loses less than the limit, and no verdict, since the last look was
  // passed while an alarm was checked.
  SequentialTest test(1, {.most_blocks = 11});
  for (int block = 0; block < 6; ++block) test.add(std::array{-0.045 + 1e-4 * block});
  REQUIRE(test.is_confirming());
  for (int block = 0; block < 6; ++block) test.add(std::array{-0.02 + 1e-4 * block});
  CHECK(test.is_over());
  CHECK(test.conclusion(0) == Conclusion::pass);
}

TEST_CASE("Of many metrics one is not an alarm by chance", "[sequential]") {
  // Bug: twenty benchmarks at 5 % each, and every other build is red. Each metric is at the
  // tolerated loss, where errors are likeliest; the promise for all of them together is 1 %.
  constexpr std::size_t metrics = 20;
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SequentialTest test(metrics);
    Source source(0.03, 0.05, seed);
    while (!test.is_over()) {
      std::array<double, metrics> block{};
      for (double& value : block) value = source();
      test.add(block);
    }
    for (std::size_t m = 0; m < metrics; ++m) {
      if (test.conclusion(m) == Conclusion::slower) {
        ++alarms;
        break;
      }
    }
  }
  CHECK(alarms <= 4);
}

TEST_CASE("One slow metric among many is found", "[sequential]") {
  // Bug: Holm's steps from the wrong end.
  constexpr std::size_t metrics = 20;
  SequentialTest test(metrics);
  Source source(0, 0.03, 5);
  while (!test.is_over()) {
    std::array<double, metrics> block{};
    for (double& value : block) value = source();
    block[13] += std::log(0.8);
    test.add(block);
  }
  CHECK(test.conclusion(13) == Conclusion::slower);
  CHECK(test.conclusion(12) != Conclusion::slower);
}

TEST_CASE("Where the noise is far too large the test ends early, and says what it would take",
          "[sequential]") {
  // Bug: an hour of runs that can't tell anything.
  SequentialTest test(1);
  Source source(0, 0.8, 1);
  while (!test.is_over()) test.add(std::array{source()});
  CHECK(test.blocks() < 20);
  CHECK(test.conclusion(0) == Conclusion::inconclusive);
  CHECK(test.blocks_missing() > 240);
}

TEST_CASE("The most blocks are the last look", "[sequential]") {
  // Bug: a limit between two looks leaves the blocks behind the last one unused. (No alarm here:
  // blocks that confirm one come on top.)
  SequentialTest test(1, {.most_blocks = 11});
  for (int block = 0; !test.is_over(); ++block) test.add(std::array{block % 2 ? 0.0 : -0.13});
  CHECK(test.blocks() == 11);
  CHECK(SequentialTest(1, {.most_blocks = 1}).blocks_wanted() == 6);
}

}  // namespace
}  // namespace feedrate::sequential_test_tests
