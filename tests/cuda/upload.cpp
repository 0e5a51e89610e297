// SPDX-License-Identifier: Apache-2.0
#include "feedrate/cuda/upload.hpp"

#include <catch2/catch_test_macros.hpp>

#include "harness.hpp"

namespace feedrate::inline v0::cuda::upload_tests {
namespace {

using namespace feedrate::testing;

TEST_CASE("One batch can be uploaded again and again, and the copies are timed", "[upload]") {
  // Bug: a copy ceiling that is measured with other work than the feed's.
  for (const auto schedule : schedules()) {
    FreshDevice device(schedule);
    Stream compute;
    Loader loader(Numbers{97}, feeding(0, 1), slab_for(true));
    const auto lease = loader.next();
    Uploader uploader(compute.handle());
    Delivered seen, expected;
    for (int n = 0; n < 10; ++n) {
      note(compute.handle(), seen, uploader.upload(*lease));
      append(expected, *lease);
    }
    uploader.settle();
    compute.synchronize();
    CHECK(seen == expected);
    CHECK(uploader.take_copy_s() > 0);
    CHECK(uploader.take_copy_s() == 0);
    CHECK(standin::counts().copies == 10);
    CHECK(standin::counts().copied_bytes == 10 * loader.layout().bytes());
  }
}

TEST_CASE("Leases end with their copies, and no later than settle", "[upload]") {
  // Bug: a slot that is never free again, or free too early.
  FreshDevice device;
  Stream compute;
  Loader loader(Numbers{97}, feeding(0, 0), slab_for(true));
  Uploader uploader(compute.handle());
  uploader.upload(*loader.next());
  CHECK(loader.slab().kind() == SlabKind::pinned);
  uploader.upload(*loader.next());
  CHECK_THROWS_AS(loader.reconfigure({.batch = 4}), Error);
  uploader.settle();
  CHECK_NOTHROW(loader.reconfigure({.batch = 4}));
}

TEST_CASE("A batch that does not fit on the device costs only that batch", "[upload]") {
  // Bug: a device that is out of memory and is not usable afterwards.
  FreshDevice device;
  Stream compute;
  Loader loader(Numbers{97}, feeding(0, 1), slab_for(true));
  Uploader uploader(compute.handle());
  standin::set_memory_limit(loader.layout().bytes() * 3 - 1);
  CHECK_THROWS_AS(uploader.upload(*loader.next()), OutOfMemory);
  CHECK_THROWS_AS(uploader.reserve(1 << 20), OutOfMemory);
  standin::set_memory_limit(loader.layout().bytes() * 3);
  Delivered seen, expected;
  auto lease = loader.next();
  append(expected, *lease);
  note(compute.handle(), seen, uploader.upload(std::move(*lease)));
  compute.synchronize();
  CHECK(seen == expected);
}

TEST_CASE("A copy that finds no memory to be staged in costs that batch alone", "[upload]") {
  // Bug: one copy that failed for want of memory ends the feed, though the device works.
  FreshDevice device;
  Stream compute;
  Loader loader(Numbers{97}, feeding(0, 1), slab_for(false));
  Uploader uploader(compute.handle());
  standin::fail_at("cudaMemcpyAsync", 2, cudaErrorMemoryAllocation);
  Delivered seen, expected;
  for (int n = 0; n < 5; ++n) {
    auto lease = loader.next();
    if (n == 1) {
      CHECK_THROWS_AS(uploader.upload(std::move(*lease)), OutOfMemory);
      continue;
    }
    append(expected, *lease);
    note(compute.handle(), seen, uploader.upload(std::move(*lease)));
  }
  uploader.settle();
  compute.synchronize();
  CHECK(seen == expected);
  CHECK_NOTHROW(loader.reconfigure({.batch = 4}));
}

TEST_CASE("Nothing is freed any more of a device that does not answer", "[upload]") {
  // Bug: a program that has told of the hang in a sentence, and then hangs in freeing its memory.
  FreshDevice device;
  {
    Stream compute;
    const DeviceMemory memory(1 << 10);
    check(cudaMemsetAsync(memory.data(), 0, memory.bytes(), compute.handle()), "clearing");
    standin::hang_device();
    CHECK_THROWS_AS(compute.synchronize(0.01), DeviceLost);
  }
  CHECK(standin::calls_of("cudaFree") == 0);
  standin::reset();
}

TEST_CASE("Device memory grows with the batches and is allocated once", "[upload]") {
  // Bug: an allocation of device memory in the steady state, or a slot that is too small.
  FreshDevice device;
  Stream compute;
  Uploader uploader(compute.handle());
  Loader loader(Numbers{97}, feeding(0, 1), slab_for(true));
  Delivered seen, expected;
  for (const int batch : {4, 50, 8}) {
    LoaderOptions options = feeding(0, 1);
    options.batch = batch;
    options.epochs = 0;
    uploader.settle();
    compute.synchronize();
    loader.reconfigure(options);
    for (int n = 0; n < 7; ++n) {
      auto lease = loader.next();
      append(expected, *lease);
      note(compute.handle(), seen, uploader.upload(std::move(*lease)));
    }
  }
  compute.synchronize();
  CHECK(seen == expected);
  CHECK(standin::calls_of("cudaMalloc") == 2);
  CHECK(standin::living().device_blocks == 1);
}

TEST_CASE("Invalid slots and deadlines are an error", "[upload]") {
  // Bug: a division by no slots.
  FreshDevice device;
  CHECK_THROWS_AS(Uploader(nullptr, {.slots = 0}), Error);
  CHECK_THROWS_AS(Uploader(nullptr, {.stall_s = 0}), Error);
  CHECK_THROWS_AS(Uploader(nullptr, {.queue_s = 0}), Error);
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::upload_tests
