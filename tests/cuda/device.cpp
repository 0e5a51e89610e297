// SPDX-License-Identifier: Apache-2.0
#include "feedrate/cuda/device.hpp"

#include <catch2/catch_test_macros.hpp>

#include "harness.hpp"

namespace feedrate::inline v0::cuda::device_tests {
namespace {

using feedrate::testing::FreshDevice;

TEST_CASE("A device is described, and found by its UUID", "[device]") {
  // Bug: another device than the one that was asked for.
  FreshDevice fresh;
  const Device device = describe_device(0);
  CHECK(device.name == "Stand-in GPU");
  CHECK(device.capability_major == 9);
  CHECK(device.memory_bytes == std::size_t{1} << 30);
  CHECK(find_device(device.uuid).index == 0);
  CHECK_THROWS_AS(find_device("GPU-none"), Error);
  CHECK_THROWS_AS(use_device(1), Error);
}

TEST_CASE("An instance of a GPU is found by its UUID, whichever one the runtime tells",
          "[device]") {
  // Bug: "hidden from this process" for the instance that CUDA_VISIBLE_DEVICES names.
  FreshDevice fresh;
  CHECK(find_device("MIG-1f2e").index == 0);
  Device device;
  device.uuid = "GPU-1f2e";
  CHECK(detail::is_named(device, "MIG-1f2e", 2));
  CHECK_FALSE(detail::is_named(device, "MIG-5a5a", 2));
  CHECK_FALSE(detail::is_named(device, "GPU-5a5a", 1));
}

TEST_CASE("A device reports its L2 cache; without a report it counts as small", "[device]") {
  // Bug: no columns at all, or those of all images at once, where the driver says 0.
  FreshDevice fresh;
  CHECK(l2_bytes() == std::size_t{50} << 20);
  standin::set_l2_bytes(std::size_t{126} << 20);
  CHECK(l2_bytes() == std::size_t{126} << 20);
  standin::set_l2_bytes(0);
  CHECK(l2_bytes() == std::size_t{4} << 20);
}

TEST_CASE("Where there is no device the count says so in a sentence", "[device]") {
  // Bug: a crash, or a count of zero that nobody explains.
  FreshDevice fresh;
  standin::fail_at("cudaGetDeviceCount", 1, cudaErrorNoDevice);
  CHECK_THROWS_AS(device_count(), Error);
  CHECK(device_count() == 1);
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::device_tests
