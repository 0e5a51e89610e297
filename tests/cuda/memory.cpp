// SPDX-License-Identifier: Apache-2.0
#include "feedrate/cuda/memory.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <utility>
#include <vector>

#include "harness.hpp"

namespace feedrate::inline v0::cuda::memory_tests {
namespace {

using feedrate::testing::FreshDevice;

TEST_CASE("Memory of the device is freed once, by whoever owns it last", "[device_memory]") {
  // Bug: memory that is freed twice, or never, when its owner moves.
  FreshDevice device;
  {
    DeviceMemory first(100), second = std::move(first);
    first = std::move(second);
    CHECK(first.bytes() == 100);
    CHECK(second.data() == nullptr);
    CHECK(standin::living().device_blocks == 1);
    CHECK(DeviceMemory(0).data() == nullptr);
  }
  CHECK(standin::living() == standin::Living{});
}

TEST_CASE("An arena hands out what it measured, aligned, apart and zeroed", "[device_memory]") {
  // Bug: arrays that overlap, or that begin with what lay there before.
  FreshDevice device;
  Stream stream;
  DeviceArena arena;
  const auto take = [&] {  // in braces: from left to right
    return std::pair<float*, double*>{arena.take<float>(3), arena.take<double>(65)};
  };
  CHECK(take() == std::pair<float*, double*>(nullptr, nullptr));
  CHECK(arena.bytes() == 256 + 768);
  arena.allocate(stream.handle());
  const auto [few, many] = take();
  CHECK(reinterpret_cast<std::byte*>(many) - reinterpret_cast<std::byte*>(few) == 256);
  bool zeroed = false;
  standin::enqueue(stream.handle(), [&, many = many] {
    zeroed = std::all_of(many, many + 65, [](double value) { return value == 0; });
  });
  stream.synchronize();
  CHECK(zeroed);
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::memory_tests
