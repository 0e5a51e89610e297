// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/gate/requirements.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>

namespace feedrate {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Fulfilment of(Relation relation, double bound, const Interval& value) {
  return fulfilment_of({"", "fed", relation, bound}, value);
}

TEST_CASE("A requirement is judged by the whole interval", "[requirements]") {
  // Bug: an estimate above the bound that passes, whatever its noise.
  const Interval value{0.9, 0.8, 0.95};
  CHECK(of(Relation::at_least, 0.8, value) == Fulfilment::met);
  CHECK(of(Relation::at_least, 0.85, value) == Fulfilment::inconclusive);
  CHECK(of(Relation::at_least, 0.96, value) == Fulfilment::not_met);
  CHECK(of(Relation::at_most, 0.95, value) == Fulfilment::met);
  CHECK(of(Relation::at_most, 0.9, value) == Fulfilment::inconclusive);
  CHECK(of(Relation::at_most, 0.79, value) == Fulfilment::not_met);
}

TEST_CASE("A bound counts for >= and <=, and not for > and <", "[requirements]") {
  // Bug: a count of 0 problems that is not met by "problems < 0", or met by "problems > 0".
  const Interval two{2, 2, 2};
  CHECK(of(Relation::at_least, 2, two) == Fulfilment::met);
  CHECK(of(Relation::at_most, 2, two) == Fulfilment::met);
  CHECK(of(Relation::above, 2, two) == Fulfilment::not_met);
  CHECK(of(Relation::below, 2, two) == Fulfilment::not_met);
}

TEST_CASE("An interval without bounds is never met", "[requirements]") {
  // Bug: one round that passes, since it has no noise that anybody knows.
  const Interval unknown{5, -infinity, infinity};
  for (const Relation relation :
       {Relation::at_least, Relation::above, Relation::at_most, Relation::below}) {
    CHECK(of(relation, 1, unknown) == Fulfilment::inconclusive);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(of(Relation::at_least, 1, {nan, nan, nan}) == Fulfilment::inconclusive);
}

TEST_CASE("What was not measured is not met", "[requirements]") {
  // Bug: a gate on a metric that a command lacks, which passes for ever.
  const std::vector<Requirement> wanted = {{"fed >= 0", "fed", Relation::at_least, 0}};
  const auto results = judged(wanted, std::vector<GateMetric>{});
  REQUIRE(results.size() == 1);
  CHECK(results[0].fulfilment == Fulfilment::not_met);
  CHECK_FALSE(results[0].value.has_value());
  CHECK_FALSE(results[0].reason.empty());
}

TEST_CASE("A gate with requirements concludes the worst of them", "[requirements]") {
  // Bug: one that is not met beside one that is, and exit 0.
  const MetricKind kind{"busy", "1"};
  Gate gate;
  gate.metrics = {measured_metric(kind, {0.5, 0.4, 0.6})};
  const auto conclude = [&](double bound) {
    gate.requirements =
        judged({{"", "busy", Relation::at_least, 0.1}, {"", "busy", Relation::at_least, bound}},
               gate.metrics);
    return gate.conclusion();
  };
  CHECK(conclude(0.4) == Conclusion::pass);
  CHECK(conclude(0.5) == Conclusion::inconclusive);
  CHECK(conclude(0.7) == Conclusion::slower);
}

}  // namespace
}  // namespace feedrate
