// SPDX-License-Identifier: Apache-2.0
// Tests of cuda/blas_library.hpp against the toolkit that the build found; they need no GPU.
#include "feedrate/cuda/train/blas_library.hpp"

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <iterator>
#include <string>

namespace {

/// What this process has mapped.
std::string maps() {
  std::ifstream file("/proc/self/maps");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("cuBLAS is opened by the first call that needs it, with all that is called of it") {
  // Bug: 640 MB of address space reserved by each start of the program, or a name that the
  // library does not have.
  CHECK(maps().find("libcublasLt") == std::string::npos);
  const feedrate::cuda::BlasLibrary& blas = feedrate::cuda::blas_library();
  CHECK(maps().find("libcublasLt") != std::string::npos);
  CHECK(std::string(blas.status_text(CUBLAS_STATUS_ALLOC_FAILED)).find("allocation") !=
        std::string::npos);
  CHECK(&blas == &feedrate::cuda::blas_library());
}
