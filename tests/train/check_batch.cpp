// SPDX-License-Identifier: Apache-2.0
// Tests of what every step asks of its batches.
#include "feedrate/train/check_batch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace feedrate::check_batch_tests {
using Catch::Matchers::ContainsSubstring;

TEST_CASE("A batch is refused for its shape, its size and its type, in that order") {
  // Bug: a message about the type of a batch that has the wrong shape, too.
  const Shape sample{2, 3};
  const TensorView good{nullptr, DType::u8, {4, 2, 3}};
  REQUIRE_NOTHROW(require_batch(good, sample, 4, 4));
  REQUIRE_THROWS_WITH(require_batch(good, sample, 3, 4), ContainsSubstring("3 samples of 2x3"));
  REQUIRE_THROWS_WITH(require_batch(good, sample, 4, 3), ContainsSubstring("made for 1 to 3"));
  const TensorView half{nullptr, DType::f16, {4, 2, 3}};
  REQUIRE_THROWS_WITH(require_batch(half, sample, 4, 4), ContainsSubstring("not f16"));
  REQUIRE_THROWS_WITH(require_parameters(3, 4), ContainsSubstring("4 parameters, not 3"));
}

}  // namespace feedrate::check_batch_tests
