// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/text/price_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "../example_report.hpp"

namespace feedrate::price_text_tests {
namespace {

using testing::example_report;

TEST_CASE("What waiting costs is the price of the time that the step waits") {
  // Bug: the price of all of the time, or of the recommended config's waiting. 30 % of a day at 2
  // an hour are 14.4; an epoch of 1,800 s costs 1, of which 0.3 is waiting; at twice the speed half
  // of a day is saved.
  const WaitingCosts costs = waiting_costs(Price{.per_hour = 2}, 0.3, 1800, 2);
  CHECK(std::abs(*costs.per_day - 14.4) < 1e-9);
  CHECK(std::abs(*costs.per_epoch - 0.3) < 1e-9);
  CHECK(std::abs(*costs.saved_per_day - 24) < 1e-9);
}

TEST_CASE("What is unknown is not told, and an estimate beyond all of the time is held at it") {
  // Bug: a cost below 0 where noise makes a fed step faster than its ceiling.
  const WaitingCosts costs = waiting_costs(Price{.per_hour = 2}, std::nullopt, 1800, 1);
  CHECK_FALSE(costs.per_day);
  CHECK_FALSE(costs.per_epoch);
  CHECK(*costs.saved_per_day == 0);
  CHECK(*waiting_costs(Price{.per_hour = 2}, -0.1, {}, 1).per_day == 0);
}

TEST_CASE("The screen's sentence names the price, what waiting costs, and what is saved") {
  Report report = example_report();
  CHECK(price_text(report).empty());
  report.price = Price{.per_hour = 3.5, .currency = "EUR"};
  report.workload.samples = 3600000;
  // Bug: what interference costs, billed as waiting. 70 % of 24 h, and of an epoch of 3,596 s.
  for (Round& round : report.outcome.trials[0].rounds) round.wait_s = 0.7 * round.duration_s;
  CHECK(
      price_text(report) ==
      "At 3.50 EUR/h, waiting for data costs 58.80 a day and 2.45 an epoch. The change saves 42.00 "
      "a day.");
  // Bug: a saving by the rounds' gain, of a script whose fresh processes show another.
  report.confirmation = Confirmation{.speedup = {4, 3.9, 4.1}, .pairs = 3};
  CHECK(price_text(report).ends_with("The change saves 63.00 a day."));
}

TEST_CASE("An epoch of a script has the samples that its loader gives") {
  // Bug: the price of the whole dataset, of which a sampler draws a tenth.
  WorkloadInfo workload;
  workload.samples = 1000;
  CHECK(detail::samples_of_epoch(workload) == 1000);
  workload.script.emplace();
  workload.script->config.batch = 32;
  CHECK(detail::samples_of_epoch(workload) == 1000);
  workload.script->batches = 32;  // the last one has 8
  CHECK(detail::samples_of_epoch(workload) == 1000);
  workload.script->batches = 3;
  CHECK(detail::samples_of_epoch(workload) == 96);
  workload.script->batches = 100;  // drawn with replacement
  CHECK(detail::samples_of_epoch(workload) == 3200);
  workload.script->world = 2;
  workload.script->batches = 16;  // of each rank
  CHECK(detail::samples_of_epoch(workload) == 1000);
  workload.script->batches = 100;
  workload.script->batch_fixed = "the script has its own batch sampler";
  CHECK(detail::samples_of_epoch(workload) == 1000);
}

}  // namespace
}  // namespace feedrate::price_text_tests
