// SPDX-License-Identifier: Apache-2.0
// Planted mistakes: each must show as wrong bytes in every run, or these tests see nothing.
#include <catch2/catch_test_macros.hpp>

#include "harness.hpp"

namespace feedrate::inline v0::cuda::feed_mistakes_tests {
namespace {

using namespace feedrate::testing;

/// What kernels see with a mistake planted by `plant(compute)`.
template <class Plant>
Delivered with_mistake(const LoaderOptions& options, int wait_every, Plant&& plant) {
  FreshDevice device;
  Stream compute;
  Loader loader(Numbers{97}, options, slab_for(true));
  Feed feed(loader, compute.handle());
  plant(compute.handle());
  return drain_feed(feed, compute, wait_every);
}

TEST_CASE("Steps that don't wait for their copy are caught", "[feed]") {
  // Bug: a feed that forgets to let the compute stream wait for the copy's event.
  for (const int workers : {0, 1, 2}) {
    const LoaderOptions options = feeding(workers, 4);
    const auto forget = [](cudaStream_t compute) {
      standin::forget_waits([=](cudaStream_t stream) { return stream == compute; });
    };
    CHECK(with_mistake(options, 1, [](cudaStream_t) {}) == plain(options));
    CHECK(with_mistake(options, 1, forget) != plain(options));
  }
}

TEST_CASE("Copies into a slot that is still being used are caught", "[feed]") {
  // Bug: a feed that forgets to let the copy wait until the slot was consumed.
  for (const int workers : {0, 1, 2}) {
    const LoaderOptions options = feeding(workers, 4);
    const auto forget = [](cudaStream_t compute) {
      standin::forget_waits([=](cudaStream_t stream) { return stream != compute; });
    };
    CHECK(with_mistake(options, 0, [](cudaStream_t) {}) == plain(options));
    CHECK(with_mistake(options, 0, forget) != plain(options));
  }
}

TEST_CASE("Leases that end before their copy is done are caught", "[feed]") {
  // Bug: a feed that ends a lease without having seen the copy's event.
  for (const int workers : {0, 1, 2}) {
    const LoaderOptions options = feeding(workers, workers == 0 ? 0 : 4);
    const auto hasten = [](cudaStream_t) { standin::hasten_queries(); };
    CHECK(with_mistake(options, 0, [](cudaStream_t) {}) == plain(options));
    CHECK(with_mistake(options, 0, hasten) != plain(options));
  }
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::feed_mistakes_tests
