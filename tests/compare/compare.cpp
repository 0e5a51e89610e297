// SPDX-License-Identifier: Apache-2.0
#include "feedrate/compare/compare.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "feedrate/data/in_memory.hpp"
#include "feedrate/load/loader.hpp"

namespace feedrate::compare_tests {
namespace {

/// Time that passes only where work is done.
struct SharedClock {
  const double* now;
  double now_s() const noexcept { return *now; }
};

TEST_CASE("A callable that takes a quarter more time is slower by a fifth", "[compare]") {
  // Bug: the ratio of times in place of that of rates, or base and head swapped.
  double now_s = 0;
  const auto base = [&] { now_s += 0.001; };
  const auto head = [&] { now_s += 0.00125; };
  const Comparison slower = compare(base, head, {}, SharedClock{&now_s});
  CHECK(slower.conclusion == Conclusion::slower);
  CHECK_FALSE(slower.passes());
  CHECK(slower.speed_ratio.estimate == Catch::Approx(0.8).epsilon(0.02));
  CHECK(slower.base_per_s == Catch::Approx(1000).epsilon(0.02));

  const Comparison faster = compare(head, base, {}, SharedClock{&now_s});
  CHECK(faster.passes());
  CHECK(faster.speed_ratio.estimate == Catch::Approx(1.25).epsilon(0.02));
  CHECK(faster.blocks == 6);
}

TEST_CASE("Units that a callable returns are what its rate counts", "[compare]") {
  // Bug: calls are compared, and a loader with larger batches looks slower.
  double now_s = 0;
  const auto small = [&] { return now_s += 0.001, 32; };
  const auto large = [&] { return now_s += 0.002, 64.0; };
  const Comparison same = compare(small, large, {}, SharedClock{&now_s});
  CHECK(same.passes());
  CHECK(same.speed_ratio.estimate == Catch::Approx(1).epsilon(0.02));
  CHECK(same.base_per_s == Catch::Approx(32000).epsilon(0.02));
}

TEST_CASE("A callable that does nothing it can count is refused", "[compare]") {
  // Bug: a rate of zero, whose logarithm makes every verdict a pass.
  double now_s = 0;
  const auto idle = [&] { return now_s += 0.001, 0; };
  CHECK_THROWS_AS(compare(idle, idle, {}, SharedClock{&now_s}), Error);
}

TEST_CASE("The budget ends a comparison, and what is open stays open", "[compare]") {
  // Bug: a pass for want of data.
  double now_s = 0;
  const auto work = [&] { now_s += 0.05; };
  const Comparison open = compare(work, work, {.budget_s = 1}, SharedClock{&now_s});
  CHECK(open.conclusion == Conclusion::inconclusive);
  CHECK(open.blocks < 6);
  // Bug: a rate that is no number, where no block was measured.
  const Comparison none = compare(work, work, {.budget_s = 0.01}, SharedClock{&now_s});
  CHECK(none.blocks == 0);
  CHECK(none.base_per_s == 0);
}

TEST_CASE("Invalid options are refused before anything runs", "[compare]") {
  // Bug: limits in percent, whose logarithm is no number, and every comparison passes.
  int calls = 0;
  const auto work = [&] { ++calls; };
  const double nan = std::nan("");
  for (const CompareOptions& options :
       {CompareOptions{.limits = {5, 10}}, CompareOptions{.limits = {.tolerated = 0.6}},
        CompareOptions{.limits = {nan, 0.1}}, CompareOptions{.run_s = 0},
        CompareOptions{.run_s = nan}, CompareOptions{.budget_s = -1}}) {
    CHECK_THROWS_AS(compare(work, work, options), Error);
  }
  CHECK(calls == 0);
}

TEST_CASE("Two loaders are compared by their samples", "[compare]") {
  // Bug: a loader is no callable, and its second run begins behind the end of an epoch.
  const InMemory numbers(4096, {Field{"x", DType::f32, {4}}});
  Loader base(numbers, {.batch = 64, .workers = 1, .prefetch = 2});
  Loader head(numbers, {.batch = 64, .workers = 1, .prefetch = 2});
  const Comparison result = compare(base, head, {.run_s = 0.005, .most_blocks = 6});
  CHECK(result.base_per_s > 0);
  CHECK(result.blocks + result.disturbed >= 6);
}

TEST_CASE("A loader that ends is refused", "[compare]") {
  // Bug: an endless wait for a batch that never comes.
  const InMemory numbers(64, {Field{"x", DType::f32, {4}}});
  Loader ends(numbers, {.batch = 4, .workers = 0, .epochs = 1});
  Loader goes_on(numbers, {.batch = 4, .workers = 0});
  CHECK_THROWS_AS(compare(goes_on, ends, {.run_s = 0.01}), Error);
}

}  // namespace
}  // namespace feedrate::compare_tests
