// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/race/adopt_promising.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <limits>
#include <vector>

namespace feedrate::adopt_promising_tests {
namespace {

/// Of three trials, of which the first is the reference: nothing was proven, and the last seemed
/// this much faster.
Outcome seemed(double gain) {
  Outcome outcome;
  outcome.trials.resize(3);
  outcome.tiers = {{.tier = Tier::safe,
                    .standing = Confidence::keep_current,
                    .promising = 2,
                    .promise = {gain, 0, std::numeric_limits<double>::infinity()}}};
  return outcome;
}

TEST_CASE("What seemed faster is recommended for fresh processes to decide", "[adopt_promising]") {
  // Bug: "keep what you have" of a change of 10x on a busy machine, where one pair of rounds proves
  // nothing and launches would.
  Outcome outcome = seemed(10);
  CHECK(adopt_promising(outcome, 1.05));
  CHECK(outcome.choice().trial == 2);
  CHECK(outcome.choice().speedup.estimate == 10);
  CHECK(outcome.choice().tie_set == std::vector<std::size_t>{2});
  CHECK(outcome.choice().standing == Confidence::unresolved);
  CHECK_FALSE(outcome.choice().promising);
  CHECK_FALSE(outcome.verified);
}

TEST_CASE("A small promise, or one beside a proven change, is left alone", "[adopt_promising]") {
  // Bug: a minute of launches for a gain of 1 %, or a guess in the place of what was proven.
  Outcome small = seemed(1.01);
  CHECK_FALSE(adopt_promising(small, 1.05));
  CHECK(small.choice().trial == 0);
  Outcome proven = seemed(10);
  proven.tiers.front().trial = 1;
  CHECK_FALSE(adopt_promising(proven, 1.05));
  CHECK(proven.choice().trial == 1);
  Outcome none = seemed(10);
  none.tiers.front().promising.reset();
  CHECK_FALSE(adopt_promising(none, 1.05));
}

}  // namespace
}  // namespace feedrate::adopt_promising_tests
