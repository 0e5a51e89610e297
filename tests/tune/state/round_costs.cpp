// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/state/round_costs.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace feedrate::round_costs_tests {
namespace {

using Catch::Approx;

Request request_of(int workers, Part part = Part::coupled) {
  return {part, {.workers = workers, .prefetch = 2}, {}};
}

TEST_CASE("What a config costs is what it cost last, else what its workers cost", "[round_costs]") {
  // Bug: 32 workers that take 3 s to start are tried as if they took nothing.
  RoundCosts costs;
  CHECK(costs.of(request_of(8).config) == 0);
  costs.add(request_of(0), 0.1);
  costs.add(request_of(8), 0.8);
  CHECK(costs.of(request_of(31).config) == Approx(32 * 0.9 / 10));
  costs.add(request_of(8), 0.1);
  CHECK(costs.of(request_of(8).config) == Approx(0.1));
  CHECK(costs.of(request_of(31).config) == Approx(32 * 0.9 / 10));
}

TEST_CASE("A round lasts as long as it costs beside that, within three shares", "[round_costs]") {
  // Bug: rounds of 0.2 s behind 2 s of preparation, which tell little for that time.
  TuneOptions options;
  options.budget_s = 30;
  RoundCosts costs;
  CHECK(costs.round_s(options) == Approx(0.2));
  costs.add(request_of(1, Part::device), 9);
  CHECK(costs.round_s(options) == Approx(0.2));
  costs.add(request_of(1), 0.3);
  CHECK(costs.round_s(options) == Approx(0.3));
  costs.add(request_of(2), 5);
  costs.add(request_of(3), 5);
  CHECK(costs.round_s(options) == Approx(0.6));
  options.round_s = 1;
  CHECK(costs.round_s(options) == 1);
}

}  // namespace
}  // namespace feedrate::round_costs_tests
