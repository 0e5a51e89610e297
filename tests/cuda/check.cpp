// SPDX-License-Identifier: Apache-2.0
#include "feedrate/cuda/check.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "harness.hpp"

namespace feedrate::inline v0::cuda::check_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using feedrate::testing::FreshDevice;

TEST_CASE("Each failure of the runtime is an error of its kind, with the runtime's words",
          "[check]") {
  // Bug: an out-of-memory that ends the process, or a lost device that is tried again.
  FreshDevice device;
  CHECK_NOTHROW(check(cudaSuccess, "resting"));
  CHECK_THROWS_AS(check(cudaErrorMemoryAllocation, "growing"), OutOfMemory);
  CHECK_THROWS_AS(check(cudaErrorIllegalAddress, "copying"), DeviceLost);
  CHECK_THROWS_WITH(check(cudaErrorInvalidValue, "copying"),
                    ContainsSubstring("copying: invalid argument"));
  CHECK_THROWS_WITH(check(cudaErrorNoDevice, "counting"), ContainsSubstring("--device cpu"));
}

TEST_CASE("An error that was thrown is not found again by the next check", "[check]") {
  // Bug: a launch that is blamed for an allocation which failed before.
  FreshDevice device;
  void* data = nullptr;
  CHECK_THROWS_AS(check(cudaMalloc(&data, std::size_t{1} << 40), "growing"), OutOfMemory);
  CHECK_NOTHROW(check(cudaGetLastError(), "starting a kernel"));
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::check_tests
