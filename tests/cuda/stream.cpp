// SPDX-License-Identifier: Apache-2.0
#include "feedrate/cuda/stream.hpp"

#include <catch2/catch_test_macros.hpp>
#include <utility>

#include "harness.hpp"

namespace feedrate::inline v0::cuda::stream_tests {
namespace {

using feedrate::testing::FreshDevice;

TEST_CASE("Streams and events are given back, whoever owned them last", "[stream]") {
  // Bug: a handle that is destroyed twice, or never, when its owner moves.
  FreshDevice device;
  {
    Stream stream, other = std::move(stream);
    stream = std::move(other);
    Event event, second = std::move(event);
    event = std::move(second);
    event.record(stream.handle());
    CHECK(standin::living().streams == 1);
    CHECK(standin::living().events == 1);
  }
  CHECK(standin::living() == standin::Living{});
}

TEST_CASE("Looking for the end of work leaves no error behind", "[stream]") {
  // Bug: a launch that is refused because an earlier query had said "not ready".
  FreshDevice device;
  Stream stream;
  Event event;
  standin::enqueue(stream.handle(), [] {});
  event.record(stream.handle());
  CHECK_FALSE(event.done());
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  stream.synchronize();
  CHECK(event.done());
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("Waiting for a device that never ends has a bound", "[stream]") {
  // Bug: a process that hangs with its device.
  FreshDevice device;
  Stream stream;
  standin::enqueue(stream.handle(), [] {});
  standin::hang_device();
  CHECK_THROWS_AS(stream.synchronize(0.01), DeviceLost);
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::stream_tests
