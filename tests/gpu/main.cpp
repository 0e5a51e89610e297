// SPDX-License-Identifier: Apache-2.0
// Runs the tests that need a GPU; where there is none it says so and is skipped.
#include <cuda_runtime.h>

#include <catch2/catch_session.hpp>
#include <cstdio>

namespace {

constexpr int skipped = 77, all_tests_skipped = 4;

}  // namespace

int main(int argc, char** argv) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    const char* const why = status == cudaSuccess ? "none is visible" : cudaGetErrorString(status);
    std::printf("Skipped: no GPU can be used here (%s).\n", why);
    return skipped;
  }
  const int result = Catch::Session().run(argc, argv);
  return result == all_tests_skipped ? skipped : result;
}
