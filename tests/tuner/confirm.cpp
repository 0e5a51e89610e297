// SPDX-License-Identifier: Apache-2.0
#include "../../tuner/confirm.hpp"

#include <catch2/catch_test_macros.hpp>

namespace feedrate::confirm_tests {

TEST_CASE("One pair of launches alone denies no gain", "[confirm]") {
  // Bug: one unlucky pair that takes back what was right.
  CHECK(needs_another({0.85}));
  CHECK_FALSE(needs_another({1.2}));
}

TEST_CASE("Where two pairs disagree, and show no gain together, a third decides", "[confirm]") {
  // Bug: 0.85 and 1.15, of which the second shows the gain, called a denial.
  CHECK(needs_another({0.85, 1.15}));
  CHECK(needs_another({1.15, 0.85}));
  CHECK_FALSE(needs_another({0.97, 0.95}));
  CHECK_FALSE(needs_another({0.95, 1.2}));
  CHECK_FALSE(needs_another({0.85, 1.15, 0.9}));
}

}  // namespace feedrate::confirm_tests
