// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/text/comparison_text.hpp"

#include <catch2/catch_test_macros.hpp>

namespace feedrate::comparison_text_tests {
namespace {

TEST_CASE("A comparison is told with its ratio, its interval and its blocks", "[comparison_text]") {
  // Bug: a failed test that says "false", and not by how much.
  const Comparison slower{.conclusion = Conclusion::slower,
                          .speed_ratio = {0.8, 0.78, 0.82},
                          .base_per_s = 1000,
                          .head_per_s = 800,
                          .noise = 0.02,
                          .blocks = 12};
  CHECK(text_of(slower) ==
        "slower: 0.80 times as fast as base (95 % interval 0.78 to 0.82, 12 blocks of four runs)");
  Comparison open = slower;
  open.conclusion = Conclusion::inconclusive;
  open.disturbed = 3;
  open.wanted = 400;
  CHECK(text_of(open).ends_with(
      "12 blocks of four runs, 3 disturbed ones left out, about 400 would be needed)"));
}

}  // namespace
}  // namespace feedrate::comparison_text_tests
