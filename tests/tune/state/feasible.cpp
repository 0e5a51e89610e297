// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/state/feasible.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace feedrate::feasible_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

Trial infeasible(int batch, std::uint64_t needed_mib) {
  Trial trial;
  trial.config.batch = batch;
  trial.status = TrialStatus::infeasible;
  trial.reason = {Why::memory, {}, needed_mib << 20, 10 << 20};
  return trial;
}

TEST_CASE("A space in which nothing fits is an error that says what the smallest batch needs",
          "[feasible]") {
  // Bug: a sweep over nothing, or a refusal that names the largest config as if it were the least.
  const std::vector<Trial> trials = {infeasible(64, 80), infeasible(16, 20)};
  CHECK_THROWS_MATCHES(
      require_feasible(trials), Error,
      MessageMatches(ContainsSubstring(
          "smallest batch needs 20.0 MiB, more than the 10.0 MiB allowed; allow")));
}

TEST_CASE("One config that fits is enough", "[feasible]") {
  // Bug: a reference that needs too much memory, and takes the configs that fit with it.
  std::vector<Trial> trials = {infeasible(64, 80), {}};
  CHECK_NOTHROW(require_feasible(trials));
  CHECK_NOTHROW(require_feasible({}));
}

}  // namespace
}  // namespace feedrate::feasible_tests
