// SPDX-License-Identifier: Apache-2.0
#include "feedrate/data/in_memory.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>

#include "feedrate/data/delayed_dataset.hpp"

namespace feedrate::in_memory_tests {
namespace {

static_assert(Dataset<InMemory>);
static_assert(Dataset<DelayedDataset<InMemory>>);

InMemory three_points() {
  InMemory points(3, {{"x", DType::f32, {2}}, {"label", DType::i32, {}}});
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    points.column<float>("x")[2 * at] = static_cast<float>(i);
    points.column<float>("x")[2 * at + 1] = static_cast<float>(10 * i);
    points.column<std::int32_t>("label")[at] = 100 + i;
  }
  return points;
}

/// Loads one sample into memory of its own.
template <class D>
std::pair<std::array<float, 2>, std::int32_t> load(const D& dataset, std::size_t i) {
  const Layout layout = dataset.layout();
  std::array<float, 2> x{};
  std::int32_t label = 0;
  std::array<std::byte*, 2> places = {reinterpret_cast<std::byte*>(&x),
                                      reinterpret_cast<std::byte*>(&label)};
  std::array<std::int32_t*, 2> lengths = {};
  Random random(0, 0, i);
  dataset.load(i, Sample(layout, places, lengths), random);
  return {x, label};
}

TEST_CASE("A sample is the row of each column", "[in_memory]") {
  // Bug: strides taken from the wrong field.
  const auto [x, label] = load(three_points(), 2);
  CHECK(x == std::array{2.0f, 20.0f});
  CHECK(label == 102);
}

TEST_CASE("A column of another type or name is refused", "[in_memory]") {
  // Bug: a column read as another type than it has.
  InMemory points = three_points();
  CHECK_THROWS_AS(points.column<double>("x"), Error);
  CHECK_THROWS_AS(points.column<float>("y"), Error);
}

TEST_CASE("A computing cost uses CPU time, a waiting one uses almost none", "[costed]") {
  // Bug: a cost that is waited for instead of computed, or the other way round.
  const DelayedDataset computes(three_points(), Cost::cpu, 0.004);
  const double before_s = thread_cpu_s();
  CHECK(load(computes, 1).second == 101);
  const double computed_s = thread_cpu_s() - before_s;
  CHECK(computed_s >= 0.004);

  const DelayedDataset waits(three_points(), Cost::latency, 0.004);
  const double idle_s = thread_cpu_s();
  CHECK(load(waits, 1).second == 101);
  CHECK(thread_cpu_s() - idle_s < computed_s);
}

}  // namespace
}  // namespace feedrate::in_memory_tests
