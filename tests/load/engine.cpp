// SPDX-License-Identifier: Apache-2.0
// Counts every allocation of the process, so it has an executable of its own.
#include "feedrate/load/engine.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <new>

#include "datasets.hpp"

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

namespace feedrate {
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

}  // namespace
}  // namespace feedrate
