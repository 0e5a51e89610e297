// SPDX-License-Identifier: Apache-2.0
#include "feedrate/cuda/feed.hpp"

#include <catch2/catch_test_macros.hpp>

#include "harness.hpp"

namespace feedrate::inline v0::cuda::feed_tests {
namespace {

using namespace feedrate::testing;

TEST_CASE("Kernels see what the loader delivers, whatever the schedule", "[feed]") {
  // Bug: a slot of host or device that is used before or after its time.
  for (const auto schedule : schedules()) {
    for (const int workers : {0, 1, 2}) {
      for (const int prefetch : {1, 4}) {
        for (const bool pinned : {true, false}) {
          for (const int slots : {1, 2, 3}) {
            FreshDevice device(schedule);
            const LoaderOptions options = feeding(workers, prefetch, slots);
            Stream compute;
            Loader loader(Numbers{97}, options, slab_for(pinned));
            Feed feed(loader, compute.handle(), {.slots = slots});
            CHECK(drain_feed(feed, compute, slots == 2 ? 1 : 0) == plain(options));
            CHECK_FALSE(feed.next());
          }
        }
      }
    }
  }
}

TEST_CASE("A loader whose options know nothing of the feed still feeds it", "[feed]") {
  // Bug: "All 2 slots of the loader are leased", said to a user who holds none.
  for (const auto schedule : schedules()) {
    for (const int prefetch : {0, 1, 2, 4}) {
      FreshDevice device(schedule);
      const LoaderOptions options{.batch = 8, .workers = 2, .prefetch = prefetch, .epochs = 3};
      Stream compute;
      Loader loader(Numbers{97}, options, slab_for(true));
      Feed feed(loader, compute.handle(), {.slots = 4});
      CHECK(drain_feed(feed, compute, 0) == plain(options));
    }
  }
}

TEST_CASE("A device batch describes itself as its host batch does", "[feed]") {
  // Bug: a last, short batch that is taken for a full one.
  FreshDevice device;
  Stream compute;
  Loader loader(Numbers{20}, feeding(0, 1, 3, 1), slab_for(true));
  Feed feed(loader, compute.handle());
  feed.next();
  feed.next();
  const auto batch = feed.next();
  CHECK(batch->count() == 4);
  CHECK(batch->capacity() == 8);
  CHECK(batch->index() == 2);
  CHECK(batch->last());
  CHECK(batch->data() != nullptr);
  CHECK_FALSE(feed.next());
}

TEST_CASE("The steady state takes no memory and never waits for the device with the host blocked",
          "[feed]") {
  // Bug: a hidden synchronization, which ends the overlap of copies and steps.
  FreshDevice device;
  Stream compute;
  Loader loader(Numbers{97}, feeding(2, 4, 3, 0), slab_for(true));
  Feed feed(loader, compute.handle());
  feed.next();
  const standin::Living before = standin::living();
  const std::uint64_t blocking = standin::counts().host_blocking;
  for (int n = 0; n < 100; ++n) feed.next();
  CHECK(standin::living() == before);
  CHECK(standin::counts().host_blocking == blocking);
  CHECK(standin::counts().copies == 101);
  CHECK(feed.take_copy_s() > 0);
}

TEST_CASE("Without pinned memory each copy blocks the host", "[feed]") {
  // Bug: a pageable feed that pretends to overlap.
  FreshDevice device;
  Stream compute;
  Loader loader(Numbers{97}, feeding(0, 1, 3, 0), slab_for(false));
  Feed feed(loader, compute.handle());
  for (int n = 0; n < 10; ++n) feed.next();
  CHECK(standin::counts().host_blocking == 10);
}

TEST_CASE("A sample that fails costs its batch, and the feed goes on", "[feed]") {
  // Bug: an error of the data that is taken for one of the device.
  FreshDevice device;
  Stream compute;
  const auto fail = [](std::size_t i) {
    if (i == 12) throw std::runtime_error("unreadable");
  };
  LoaderOptions options = feeding(1, 1, 3, 1);
  options.order.shuffle = false;
  Loader loader(Numbers{40, fail}, options, slab_for(true));
  Feed feed(loader, compute.handle());
  Delivered seen;
  int failures = 0;
  for (bool more = true; more;) {
    try {
      const auto batch = feed.next();
      if (batch) note(compute.handle(), seen, *batch);
      more = batch.has_value();
    } catch (const SampleError&) {
      ++failures;
    }
  }
  compute.synchronize();
  CHECK(failures == 1);
  CHECK(seen.labels.size() == 32);
}

TEST_CASE("A feed that ends early leaves a loader that goes on, or ends first", "[feed]") {
  // Bug: leases that outlive the feed, or a slab that is freed under a queued copy.
  for (const auto schedule : schedules()) {
    for (const bool loader_first : {false, true}) {
      FreshDevice device(schedule);
      {
        Stream compute;
        auto loader = std::make_unique<Loader>(Numbers{97}, feeding(2, 4, 3, 0), slab_for(true));
        auto feed = std::make_unique<Feed>(*loader, compute.handle());
        for (int n = 0; n < 5; ++n) feed->next();
        if (loader_first) loader.reset();
        feed.reset();
        if (loader) CHECK_NOTHROW(loader->reconfigure({.batch = 4}));
      }
      CHECK(standin::living() == standin::Living{});
    }
  }
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::feed_tests
