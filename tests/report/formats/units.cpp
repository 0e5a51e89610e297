// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/formats/units.hpp"

#include <catch2/catch_test_macros.hpp>

namespace feedrate::units_tests {
namespace {

TEST_CASE("Units are times, rates, or neither") {
  // Bug: bytes that a reader is told are seconds.
  CHECK(seconds_in("us") == 1e-6);
  CHECK(seconds_in("bytes") == 0);
  CHECK(seconds_in("samples/s") == 0);
  CHECK(is_rate("samples/s"));
  CHECK_FALSE(is_rate("s"));
  CHECK_FALSE(is_rate("1"));
}

}  // namespace
}  // namespace feedrate::units_tests
