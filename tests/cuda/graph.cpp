// SPDX-License-Identifier: Apache-2.0
#include "feedrate/cuda/graph.hpp"

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>

#include "feedrate/cuda/memory.hpp"
#include "harness.hpp"

namespace feedrate::inline v0::cuda::graph_tests {
namespace {

using feedrate::testing::FreshDevice;
using feedrate::testing::schedules;

TEST_CASE("A graph runs at each launch, in the stream's order, and not while recorded", "[graph]") {
  // Bug: work that runs when it is recorded, or once only.
  for (const auto schedule : schedules()) {
    FreshDevice device(schedule);
    Stream stream;
    std::string order;
    const auto put = [&](char letter) {
      standin::enqueue(stream.handle(), [&order, letter] { order += letter; });
    };
    const Graph graph = Graph::record(stream.handle(), [&] {
      put('a');
      put('b');
    });
    stream.synchronize();
    CHECK(order.empty());
    graph.launch(stream.handle());
    put('c');
    graph.launch(stream.handle());
    stream.synchronize();
    CHECK(order == "abcab");
  }
}

TEST_CASE("A recording that throws ends, and the stream works on", "[graph]") {
  // Bug: a stream that is left in a recording.
  FreshDevice device;
  Stream stream;
  CHECK_THROWS_AS(Graph::record(stream.handle(), [] { throw std::runtime_error("no"); }),
                  std::runtime_error);
  bool ran = false;
  CHECK(standin::enqueue(stream.handle(), [&] { ran = true; }) == cudaSuccess);
  stream.synchronize();
  CHECK(ran);
  CHECK(standin::living().graphs == 0);
}

TEST_CASE("Calls that can't be recorded break the recording", "[graph]") {
  // Bug: an allocation or a wait inside a step, which fails on a real device alone.
  FreshDevice device;
  Stream stream;
  Event event;
  const auto refused = [&](auto&& queue) {
    CHECK_THROWS_AS(Graph::record(stream.handle(), queue), Error);
    CHECK(standin::living().graphs == 0);
    CHECK(cudaGetLastError() == cudaSuccess);
  };
  refused([] { DeviceMemory memory(16); });
  refused([&] { stream.synchronize(); });
  refused([&] { check(cudaDeviceSynchronize(), "waiting"); });
  refused([&] {
    event.record(stream.handle());
    static_cast<void>(event.done());
  });
  refused([&] {
    void* data = nullptr;
    cudaMalloc(&data, 16);  // the failure is not looked at
  });
  const Event elsewhere;
  refused([&] { stream.wait_for(elsewhere); });
}

TEST_CASE("Another stream works on while one is recorded", "[graph]") {
  // Bug: a feed that fails whenever the step is being recorded.
  FreshDevice device;
  Stream stream, other;
  bool ran = false;
  const Graph graph = Graph::record(stream.handle(), [&] {
    standin::enqueue(other.handle(), [&] { ran = true; });
    other.synchronize();
  });
  CHECK(ran);
  CHECK(standin::living().graphs == 1);
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::graph_tests
