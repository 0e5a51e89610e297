// SPDX-License-Identifier: Apache-2.0
// The stand-in itself: what is in order, and what is not.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "feedrate/cuda/stream.hpp"
#include "harness.hpp"

namespace feedrate::inline v0::cuda::standin_order_tests {
namespace {

using feedrate::testing::FreshDevice;
using feedrate::testing::schedules;

TEST_CASE("Work in a stream runs in the order in which it was queued", "[standin]") {
  // Bug: a stand-in that forgives a wrong order, or makes one.
  for (const auto schedule : schedules()) {
    FreshDevice device(schedule);
    Stream stream;
    std::string order;
    for (const char letter : {'a', 'b', 'c', 'd'}) {
      standin::enqueue(stream.handle(), [&order, letter] { order += letter; });
    }
    stream.synchronize();
    CHECK(order == "abcd");
  }
}

TEST_CASE("A stream that waits for an event begins behind it", "[standin]") {
  // Bug: a wait between streams that is not kept.
  for (const auto schedule : schedules()) {
    FreshDevice device(schedule);
    Stream first, second;
    Event event;
    std::string order;
    standin::enqueue(first.handle(), [&] { order += 'a'; });
    event.record(first.handle());
    second.wait_for(event);
    standin::enqueue(second.handle(), [&] { order += 'b'; });
    second.synchronize();
    CHECK(order == "ab");
  }
}

TEST_CASE("A wait is for the event's latest record, and not for a later one", "[standin]") {
  // Bug: a wait that is moved when the event is recorded again.
  FreshDevice device;
  Stream first, second;
  Event event;
  std::string order;
  second.wait_for(event);  // no record yet: nothing to wait for
  standin::enqueue(first.handle(), [&] { order += 'a'; });
  event.record(first.handle());
  second.wait_for(event);
  standin::enqueue(second.handle(), [&] { order += 'b'; });
  standin::enqueue(first.handle(), [&] { order += 'c'; });
  event.record(first.handle());
  second.synchronize();
  CHECK(order == "ab");
}

TEST_CASE("Without a wait the lazy schedule runs nothing of another stream", "[standin]") {
  // Bug: a schedule that hides a missing wait.
  FreshDevice device;
  Stream first, second;
  std::string order;
  standin::enqueue(first.handle(), [&] { order += 'a'; });
  standin::enqueue(second.handle(), [&] { order += 'b'; });
  second.synchronize();
  CHECK(order == "b");
  first.synchronize();
  CHECK(order == "ba");
}

TEST_CASE("The eager schedule runs work at once, the lazy one after some queries", "[standin]") {
  // Bug: schedules that are alike, or a loop of queries that never ends.
  for (const bool eager : {false, true}) {
    FreshDevice device(eager ? standin::eager : standin::lazy);
    Stream stream;
    Event event;
    event.record(stream.handle());
    bool ran = false;
    standin::enqueue(stream.handle(), [&] { ran = true; });
    event.record(stream.handle());
    CHECK(ran == eager);
    CHECK(event.done() == eager);
    wait_until([&] { return event.done(); }, 5, "work");
    CHECK(ran);
  }
}

TEST_CASE("Each seed gives its own order of two streams, always the same", "[standin]") {
  // Bug: "random" schedules that are all alike, or that can't be repeated.
  const auto order_of = [](std::uint64_t seed) {
    FreshDevice device(standin::random(seed));
    std::string order;
    cudaStream_t streams[2]{};
    for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; i < 8; ++i) {
      standin::enqueue(streams[i % 2], [&order, i] { order += static_cast<char>('a' + i); });
    }
    for (int i = 0; i < 40; ++i) cudaStreamQuery(streams[0]);
    cudaDeviceSynchronize();
    return order;
  };
  CHECK(order_of(7) == order_of(7));
  bool differ = false;
  for (std::uint64_t seed = 1; seed < 8; ++seed) differ |= order_of(seed) != order_of(seed + 1);
  CHECK(differ);
}

TEST_CASE("The default stream and blocking streams wait for each other", "[standin]") {
  // Bug: a default stream that is stricter or laxer than the real one.
  FreshDevice device;
  cudaStream_t blocking = nullptr;
  cudaStreamCreate(&blocking);
  Stream other;
  std::string order;
  standin::enqueue(blocking, [&] { order += 'a'; });
  standin::enqueue(other.handle(), [&] { order += 'x'; });
  standin::enqueue(nullptr, [&] { order += 'b'; });
  standin::enqueue(blocking, [&] { order += 'c'; });
  cudaStreamSynchronize(blocking);
  CHECK(order == "abc");
}

TEST_CASE("Work of a stream that was destroyed is still done", "[standin]") {
  // Bug: a destroyed stream that takes its work away.
  FreshDevice device;
  bool ran = false;
  {
    Stream stream;
    standin::enqueue(stream.handle(), [&] { ran = true; });
  }
  CHECK_FALSE(ran);
  cudaDeviceSynchronize();
  CHECK(ran);
}

TEST_CASE("Events behave as the real runtime documents", "[standin]") {
  // Bug: code that works on the stand-in alone.
  FreshDevice device;
  Stream stream;
  Event untimed, timed(Event::Kind::timed), other(Event::Kind::timed);
  float milliseconds = 0;
  CHECK(cudaEventQuery(timed.handle()) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, timed.handle(), other.handle()) ==
        cudaErrorInvalidResourceHandle);
  for (Event* event : {&untimed, &timed, &other}) event->record(stream.handle());
  CHECK(cudaEventElapsedTime(&milliseconds, timed.handle(), other.handle()) == cudaErrorNotReady);
  stream.synchronize();
  CHECK(other.seconds_since(timed) >= 0);
  CHECK(cudaEventElapsedTime(&milliseconds, untimed.handle(), other.handle()) ==
        cudaErrorInvalidResourceHandle);
  CHECK(cudaEventQuery(nullptr) == cudaErrorInvalidResourceHandle);
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::standin_order_tests
