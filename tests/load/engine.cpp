// SPDX-License-Identifier: Apache-2.0
// Counts every allocation of the process, so it has an executable of its own.
#include "feedrate/load/engine.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <new>

#include "datasets.hpp"
#include "feedrate/load/normalized.hpp"

namespace {
std::atomic<long> allocations{0};
}

// Not inlined: g++ 12 takes an inlined pair for a mismatch of new and free.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace feedrate::engine_tests {
namespace {

TEST_CASE("In steady state a loader allocates nothing, epoch after epoch", "[engine]") {
  // Bug: anything that is allocated per sample or per batch.
  for (int workers : {0, 1, 4}) {
    Loader loader(testing::Numbers{100}, {.batch = 8, .workers = workers, .prefetch = 3});
    for (int b = 0; b < 100; ++b) loader.next();
    const long before = allocations.load();
    for (int b = 0; b < 500; ++b) loader.next();
    CHECK(allocations.load() == before);
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
  const long before = allocations.load();
  for (int b = 0; b < 100; ++b) loader.next();
  CHECK(allocations.load() == before);
}

}  // namespace
}  // namespace feedrate::engine_tests
