// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/state/feasible.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace feedrate::feasible_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

Trial infeasible(int batch, const std::string& reason) {
  Trial trial;
  trial.config.batch = batch;
  trial.status = TrialStatus::infeasible;
  trial.reason = reason;
  return trial;
}

TEST_CASE("A space of which nothing fits is refused with what the smallest batch needs",
          "[feasible]") {
  // Bug: a sweep over nothing, or a refusal that names the largest config as if it were the least.
  const std::vector<Trial> trials = {infeasible(64, "needs 80 MiB"),
                                     infeasible(16, "needs 20 MiB")};
  CHECK_THROWS_MATCHES(require_feasible(trials), Error,
                       MessageMatches(ContainsSubstring("batch needs 20 MiB; allow more")));
}

TEST_CASE("One config that fits is enough", "[feasible]") {
  // Bug: a reference that needs too much memory, and takes the configs that fit with it.
  std::vector<Trial> trials = {infeasible(64, "needs 80 MiB"), {}};
  CHECK_NOTHROW(require_feasible(trials));
  CHECK_NOTHROW(require_feasible({}));
}

}  // namespace
}  // namespace feedrate::feasible_tests
