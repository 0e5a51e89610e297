// SPDX-License-Identifier: Apache-2.0
// Tests of how the BLAS library is set up.
#include "feedrate/train/cpu/blas_library.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace feedrate::blas_library_tests {

TEST_CASE("The BLAS library computes with kernels that use the vectors of this CPU") {
  // Bug: OpenBLAS takes the SSE3 kernels on a CPU that is newer than itself: a quarter of the rate.
  const BlasLibrary& library = blas_library();
  REQUIRE(library.outdated == detail::are_outdated(library.kernels));
  if (!library.replaced.empty()) REQUIRE(library.kernels == detail::fitting_kernels());
}

TEST_CASE("Only kernels for CPUs without AVX2 count as outdated, and only where there is AVX2") {
  // Bug: a good choice is replaced, such as Zen's by Haswell's.
  const bool can_do_better = std::string(detail::fitting_kernels()) != "";
  REQUIRE(detail::are_outdated("Prescott") == can_do_better);
  for (const char* fine : {"Zen", "Haswell", "SkylakeX", "Cooperlake", "", "neoversen1"}) {
    REQUIRE_FALSE(detail::are_outdated(fine));
  }
}

TEST_CASE("A setter that the process does not have is reported as missing, not called") {
  // Bug: a null pointer is called for a BLAS other than OpenBLAS.
  REQUIRE_FALSE(detail::set_one_thread<int>("feedrate_no_such_function"));
}

}  // namespace feedrate::blas_library_tests
