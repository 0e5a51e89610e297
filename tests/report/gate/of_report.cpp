// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/gate/of_report.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "example_report.hpp"
#include "feedrate/report/screen/screen.hpp"

namespace feedrate {
namespace {

using Catch::Approx;

const GateMetric* find(const std::vector<GateMetric>& metrics, std::string_view name) {
  for (const GateMetric& metric : metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

std::vector<GateRequirement> judge(const Report& report, const char* metric, Relation relation,
                                   double bound) {
  return judged({{metric, metric, relation, bound}}, report);
}

TEST_CASE("The metrics of a report are those of the recommended config", "[of_report]") {
  // Bug: a requirement that the reference is judged by, while another config is recommended.
  const Report report = testing::example_report();
  const auto metrics = metrics_of(report);
  REQUIRE(find(metrics, "samples_per_s"));
  CHECK(find(metrics, "samples_per_s")->value.estimate == Approx(2001).epsilon(1e-3));
  CHECK(find(metrics, "memory_bytes")->value.estimate == 9 << 20);
  CHECK(find(metrics, "speedup")->value.estimate == 2);
  CHECK(find(metrics, "speedup")->value.low == 1.95);
  CHECK(find(metrics, "fed")->value.estimate == Approx(2001.0 / 3360).epsilon(1e-3));
  CHECK(find(metrics, "utilization")->value.estimate == Approx(2001.0 / 3360).epsilon(1e-3));
  CHECK(find(metrics, "busy")->value.estimate == Approx(0.4));
}

TEST_CASE("A share over a ceiling scatters as the rounds of both", "[of_report]") {
  // Bug: a share over a ceiling that is told as sharply as a rate of many rounds. Of three rounds
  // the rate's half-width is that of one over the root of three.
  Report report = testing::example_report();
  const auto log_width = [](const Interval& value) {
    return std::log(value.high / value.estimate);
  };
  const auto width = [&](const char* name) {
    return log_width(find(metrics_of(report), name)->value);
  };
  const double rate = width("samples_per_s");
  report.outcome.probes.clear();
  for (const double turns : {1, 2}) {
    report.outcome.probes.push_back({Part::coupled, report.outcome.recommended().config, {}, {}});
    CHECK(width("fed") == Approx(rate * std::sqrt(3 * 2 / turns)));
  }
  CHECK(width("utilization") == Approx(rate * std::sqrt(3.0 + 1)));
  report.accelerator = Accelerator{};  // whose steps are exact
  CHECK(width("utilization") == Approx(rate));
}

TEST_CASE("What was not measured is no metric", "[of_report]") {
  // Bug: a memory of 0 bytes that meets every limit, or a config that nobody has run.
  Report report = testing::example_report();
  report.outcome.trials[1].memory_bytes = 0;
  report.outcome.trials[1].ceilings.reset();
  CHECK_FALSE(find(metrics_of(report), "memory_bytes"));
  CHECK_FALSE(find(metrics_of(report), "fed"));
  CHECK(judge(report, "memory_bytes", Relation::at_most, 1e12)[0].fulfilment ==
        Fulfilment::not_met);
  report.outcome.tiers.clear();
  CHECK(metrics_of(report).empty());
}

TEST_CASE("A report says of which config a requirement is not met", "[of_report]") {
  // Bug: a figure of the reference that is taken for that of a recommendation.
  Report report = testing::example_report();
  CHECK(judge(report, "speedup", Relation::at_least, 3)[0].reason == "Of the recommended config.");
  report.outcome.tiers[0].trial = report.outcome.reference;
  CHECK(judge(report, "speedup", Relation::at_least, 3)[0].reason ==
        "Of the reference, since nothing is recommended.");
  CHECK(judge(report, "busy", Relation::at_least, 0.1)[0].reason ==
        "Of the reference, since nothing is recommended.");
}

TEST_CASE("An interrupted run meets no requirement", "[of_report]") {
  // Bug: a gate that passes by the part of a run that somebody has stopped.
  Report report = testing::example_report();
  CHECK(judge(report, "speedup", Relation::at_least, 1.5)[0].fulfilment == Fulfilment::met);
  report.outcome.interrupted = true;
  const auto result = judge(report, "speedup", Relation::at_least, 1.5)[0];
  CHECK(result.fulfilment == Fulfilment::inconclusive);
  CHECK(result.reason == "The run was interrupted.");
}

TEST_CASE("The speed-up of a script is that of fresh processes", "[of_report]") {
  // Bug: a gain within one launch that the confirmation has not found.
  Report report = testing::example_report();
  report.confirmation = Confirmation{.speedup = {1.4, 1.3, 1.5}, .pairs = 4};
  CHECK(find(metrics_of(report), "speedup")->value.estimate == 1.4);
}

TEST_CASE("The screen has a line for each requirement", "[of_report]") {
  // Bug: exit code 1, and nothing on the screen that says why.
  Report report = testing::example_report();
  report.requirements = judged({{"speedup >= 3", "speedup", Relation::at_least, 3},
                                {"busy >= 10%", "busy", Relation::at_least, 0.1}},
                               report);
  const std::string screen = screen_text(report, {.width = 200});
  CHECK(
      screen.find("GATE  not met: speedup >= 3: speedup is 2.00 (95 % interval: 1.95 to 2.05). Of "
                  "the recommended config.") != screen.npos);
  CHECK(screen.find("      met: busy >= 10%: busy is 0.400") != screen.npos);
}

}  // namespace
}  // namespace feedrate
