// SPDX-License-Identifier: Apache-2.0
// A feed whose device fails at any moment, and its loader whose dataset does.
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include "harness.hpp"

namespace feedrate::inline v0::cuda::feed_failures_tests {
namespace {

using namespace feedrate::testing;

/// A feed's life: all is made, six batches are used, all is destroyed. Returns how often it threw;
/// behind the first error nothing but the destructors is called.
int live(int workers, bool pinned) {
  try {
    Delivered seen;
    Stream compute;
    Loader loader(Numbers{97}, feeding(workers, 1), slab_for(pinned));
    Feed feed(loader, compute.handle());
    for (int n = 0; n < 6; ++n) note(compute.handle(), seen, *feed.next());
    compute.synchronize();
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::device);
    return 1;
  }
  return 0;
}

TEST_CASE("A failure of any call of a feed's life gives one error, no leak and no hang", "[feed]") {
  // Bug: a path of failure that leaks, throws from a destructor or leaves a lease.
  for (const bool pinned : {false, true}) {
    std::uint64_t calls = 0;
    {
      FreshDevice device;
      CHECK(live(0, pinned) == 0);
      calls = standin::counts().calls;
    }
    int thrown = 0;
    for (std::uint64_t n = 1; n <= calls; ++n) {
      FreshDevice device;
      standin::fail_at("*", n, cudaErrorInvalidValue);
      thrown += live(n % 3 == 0 ? 2 : 0, pinned);
      CHECK(standin::living() == standin::Living{});
    }
    CHECK(thrown > static_cast<int>(calls) / 2);
  }
}

TEST_CASE("After a failed call no pending copy reads the loader's memory", "[feed]") {
  // Bug: leases given up while the device, which works, still copies from their slots.
  for (std::uint64_t n = 1; n <= 20; ++n) {
    FreshDevice device;
    Stream compute;
    auto loader = std::make_unique<Loader>(Numbers{97}, feeding(0, 1), slab_for(true));
    Feed feed(*loader, compute.handle());
    feed.next();
    standin::fail_at("*", n, cudaErrorInvalidValue);
    const auto use_all = [&] {
      for (int batches = 0; batches < 20; ++batches) feed.next();
    };
    CHECK_THROWS_AS(use_all(), Error);
    loader.reset();
  }
}

TEST_CASE("A device that is lost at any call ends the feed and nothing else", "[feed]") {
  // Bug: a lease that waits for a device which never answers, or memory of the host that leaks.
  std::uint64_t calls = 0;
  {
    FreshDevice device;
    live(2, true);
    calls = standin::counts().calls;
  }
  for (std::uint64_t n = 1; n <= calls; ++n) {
    FreshDevice device;
    standin::fail_at("*", n, cudaErrorIllegalAddress);
    live(n % 3 == 0 ? 2 : 0, true);
  }
}

TEST_CASE("After the device is lost no batch is leased, and each call says so again", "[feed]") {
  // Bug: a loader that can't be used or destroyed, since a lost device holds its slots.
  for (const auto schedule : schedules()) {
    FreshDevice device(schedule);
    Stream compute;
    Loader loader(Numbers{97}, feeding(2, 4, 3, 0), slab_for(true));
    Feed feed(loader, compute.handle());
    for (int n = 0; n < 5; ++n) feed.next();
    standin::lose_device();
    CHECK_THROWS_AS(feed.next(), DeviceLost);
    CHECK_NOTHROW(loader.reconfigure({.batch = 4}));
    CHECK(loader.next());
    CHECK_THROWS_AS(feed.next(), DeviceLost);
    CHECK_THROWS_AS(feed.settle(), DeviceLost);
  }
}

TEST_CASE("A copy that never ends is given up after stall_s", "[feed]") {
  // Bug: a training program that hangs for ever with its device.
  FreshDevice device;
  Stream compute;
  auto loader = std::make_unique<Loader>(Numbers{97}, feeding(2, 4, 3, 0), slab_for(true));
  Feed feed(*loader, compute.handle(), {.stall_s = 0.05, .queue_s = 0.05});
  feed.next();
  standin::hang_device();
  const auto use_all = [&] {
    for (int n = 0; n < 10; ++n) feed.next();
  };
  CHECK_THROWS_AS(use_all(), DeviceLost);
  CHECK_NOTHROW(loader->reconfigure({.batch = 4}));
  standin::lose_device();  // else the queued copies were still to read the slab
}

/// Datasets that misbehave from sample 20 on.
enum class Planted { none, throws, bad_alloc, slow, blocks };

Numbers misbehaving(Planted planted, std::shared_ptr<Gate> gate) {
  return {97, [=](std::size_t i) {
            if (i < 20) return;
            if (planted == Planted::throws) throw std::runtime_error("unreadable");
            if (planted == Planted::bad_alloc) throw std::bad_alloc();
            if (planted == Planted::slow) {
              std::this_thread::sleep_for(std::chrono::microseconds(100));
            }
            if (planted == Planted::blocks) gate->wait();
          }};
}

/// Uses a feed until an error or `batches`; then all is destroyed in the middle.
void use(Planted planted, const LoaderOptions& options, bool pinned, int batches,
         const std::shared_ptr<Gate>& gate) {
  Delivered seen;
  Stream compute;
  Loader loader(misbehaving(planted, gate), options, slab_for(pinned));
  Feed feed(loader, compute.handle());
  int failed = 0;
  for (int n = 0; n < batches && failed < 2; ++n) {
    try {
      note(compute.handle(), seen, *feed.next());
    } catch (const Error& error) {
      CHECK(error.fault() == Fault::data);
      ++failed;
    }
  }
  const bool fails = planted != Planted::none && planted != Planted::slow && batches > 4;
  CHECK((failed > 0) == fails);
  compute.synchronize();
}

TEST_CASE("No misbehaviour of a dataset hangs the feed or leaves anything behind", "[feed]") {
  // Bug: P1 of the promises, broken by the leases that a feed holds.
  for (const Planted planted :
       {Planted::none, Planted::throws, Planted::bad_alloc, Planted::slow, Planted::blocks}) {
    for (const int workers : {0, 1, 2, 8}) {
      for (const int prefetch : {1, 4}) {
        for (const bool pinned : {false, true}) {
          if (planted == Planted::blocks && workers == 0) continue;  // the caller itself is stuck
          FreshDevice device(standin::random(static_cast<std::uint64_t>(workers + prefetch)));
          LoaderOptions options = feeding(workers, prefetch, 3, 0);
          options.order.shuffle = false;
          if (planted == Planted::blocks) options.stall_s = 0.02;
          const auto gate = std::make_shared<Gate>();
          const int abandoned = Loader::abandoned();
          use(planted, options, pinned, 1, gate);
          use(planted, options, pinned, 12, gate);
          gate->open();
          if (planted != Planted::blocks) CHECK(Loader::abandoned() == abandoned);
          // Those left behind end when the gate opens, and free the slab as the last.
          while (standin::living().pinned_ranges > 0) std::this_thread::yield();
          CHECK(standin::living() == standin::Living{});
        }
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::feed_failures_tests
