// SPDX-License-Identifier: Apache-2.0
// What the engine promises: no allocation in steady state.
#include "feedrate/load/engine.hpp"

#include <catch2/catch_test_macros.hpp>

#include "../allocations.hpp"
#include "datasets.hpp"
#include "feedrate/load/sources/normalized.hpp"

namespace feedrate::engine_tests {
namespace {

TEST_CASE("In steady state a loader allocates nothing, epoch after epoch", "[engine]") {
  // Bug: anything that is allocated per sample or per batch.
  for (int workers : {0, 1, 4}) {
    Loader loader(testing::Numbers{100}, {.batch = 8, .workers = workers, .prefetch = 3});
    for (int b = 0; b < 100; ++b) loader.next();
    const long before = test::allocations();
    for (int b = 0; b < 500; ++b) loader.next();
    CHECK(test::allocations() == before);
  }
}

/// Sample i is eight levels i % 256.
struct Levels {
  std::size_t size() const { return 100; }
  Layout layout() const { return {{"image", DType::u8, {8}}}; }
  void load(std::size_t i, const Sample& sample, Random&) const {
    for (std::uint8_t& level : sample.get<std::uint8_t>(0)) level = static_cast<std::uint8_t>(i);
  }
};

TEST_CASE("Bytes become floats without an allocation per sample", "[engine]") {
  // Bug: a buffer for the bytes of each sample, taken and given back by every worker.
  const auto source = std::make_shared<const Normalized>(make_source(Levels{}), "image");
  Loader loader(source, {.batch = 8, .workers = 0, .prefetch = 0});
  for (int b = 0; b < 10; ++b) loader.next();
  const long before = test::allocations();
  for (int b = 0; b < 100; ++b) loader.next();
  CHECK(test::allocations() == before);
}

}  // namespace
}  // namespace feedrate::engine_tests
