// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/diagnose/what_if.hpp"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <stdexcept>
#include <vector>

namespace feedrate::what_if_tests {
namespace {

using Catch::Approx;

/// A machine whose rates are known, and which gets slower with every round, by 1 %.
class Known final : public Measurer {
 public:
  Round run(const Request& request) override {
    requests.push_back(request);
    if (request.variant == Variant::unaugmented) {
      throw Error(Fault::usage, "these samples are not augmented");
    }
    if (request.variant == Variant::uncopied && !has_copies) {
      throw Error(Fault::usage, "the device reads batches where they lie");
    }
    if (fail_all) throw std::runtime_error("The device is lost.");
    if (interrupt) throw Error(Fault::interrupted, "The run was interrupted.");
    Round round;
    round.samples = 1000;
    round.duration_s = 1000 / (rate(request) * speed);
    speed *= 0.99;
    now += round.duration_s;
    return round;
  }
  double epoch_boundary_s(const Config&) override { return 0; }
  std::size_t memory_bytes(const Config&) override { return 0; }
  double now_s() override { return now; }

  static double rate(const Request& request) {
    const double as_is = request.config.workers == 0 ? 100 : 400;
    if (request.part == Part::loader) return 500;
    if (request.part == Part::device) return 2000;
    if (request.variant == Variant::uncopied) return 2 * as_is;
    return request.variant == Variant::decoded ? 3 * as_is : as_is;
  }

  std::vector<Request> requests;
  double speed = 1, now = 0;
  bool has_copies = false, fail_all = false, interrupt = false;
};

Outcome outcome_of(const Config& recommended) {
  Outcome outcome;
  outcome.trials.resize(2);
  outcome.trials[1].config = recommended;
  outcome.tiers.push_back({});
  outcome.tiers.back().trial = 1;
  return outcome;
}

const WhatIf& find(const Outcome& outcome, std::string_view name, int workers) {
  return *std::find_if(outcome.what_if.begin(), outcome.what_if.end(), [&](const WhatIf& row) {
    return row.name == name && row.config.workers == workers;
  });
}

TEST_CASE("What-ifs are gains over the same config, measured in turn", "[what_if]") {
  // Bug: a speed-up against the reference for the recommended config, or of rounds that are far
  // apart: the machine loses 1 % with every round, so pairs must lie within one pass.
  Known machine;
  Outcome outcome = outcome_of({.workers = 2, .prefetch = 2});
  what_if(machine, outcome, {.least_pairs = 6, .most_pairs = 6, .seed = 1});
  REQUIRE(outcome.what_if.size() == 6);
  for (const WhatIf& row : outcome.what_if) {
    const double as_is = row.config.workers == 0 ? 100 : 400;
    const double truth = row.name == "decoded"           ? 3
                         : row.name == "device_infinite" ? 500 / as_is
                                                         : 2000 / as_is;
    CHECK(row.speedup.estimate == Approx(truth).epsilon(0.04));
    CHECK(row.speedup.low < truth);
    CHECK(row.speedup.high > truth);
  }
  CHECK(find(outcome, "decoded", 2).samples_per_s < 1200);
}

TEST_CASE("Where batches are copied, the copy is a cost that can be taken away", "[what_if]") {
  // Bug: a copy that is said to be none, or that nobody asks about.
  Known machine;
  machine.has_copies = true;
  Outcome outcome = outcome_of({.workers = 2, .prefetch = 2});
  what_if(machine, outcome, {.least_pairs = 6, .most_pairs = 6});
  for (const int workers : {0, 2}) {
    CHECK(find(outcome, "no_copy", workers).speedup.estimate == Approx(2).epsilon(0.04));
  }
}

TEST_CASE("An impossible what-if is left out with its reason, once", "[what_if]") {
  // Bug: a row of zeros, an end of the run, or the same round tried again and again.
  Known machine;
  Outcome outcome = outcome_of({.workers = 2, .prefetch = 2});
  what_if(machine, outcome, {.least_pairs = 3, .most_pairs = 3});
  std::map<std::string, std::string> reasons;
  for (const NotApplicable& value : outcome.not_applicable) {
    CHECK(value.axis == "what_if");
    CHECK(reasons.emplace(value.value, value.why).second);
  }
  CHECK(reasons.at("unaugmented") == "these samples are not augmented");
  CHECK(reasons.at("no_copy") == "the device reads batches where they lie");
  CHECK(reasons.size() == 2);
  CHECK(std::count_if(machine.requests.begin(), machine.requests.end(), [](const Request& request) {
          return request.variant == Variant::unaugmented;
        }) == 2);
}

TEST_CASE("A config that is the reference itself is asked about once", "[what_if]") {
  // Bug: the same rows twice where nothing else is recommended.
  Known machine;
  Outcome outcome = outcome_of({});
  outcome.tiers.back().trial = 0;
  what_if(machine, outcome, {.least_pairs = 3, .most_pairs = 3});
  CHECK(outcome.what_if.size() == 3);
}

TEST_CASE("More pairs are run while the budget has room, and never fewer than the least",
          "[what_if]") {
  // Bug: a budget that is exceeded by far, or one so short that nothing is known.
  Known machine;
  Outcome outcome = outcome_of({});
  outcome.tiers.back().trial = 0;
  what_if(machine, outcome, {.least_pairs = 3, .most_pairs = 100, .budget_s = 200});
  CHECK(machine.now <= 200);
  CHECK(machine.requests.size() > 5 * 3);
  Known short_of_time;
  what_if(short_of_time, outcome, {.least_pairs = 3, .most_pairs = 100, .budget_s = 0});
  CHECK(short_of_time.requests.size() == 4 * 3 + 2);
}

TEST_CASE("A config that does not run has no what-ifs, and an interruption ends them",
          "[what_if]") {
  // Bug: gains over a rate of nothing, or an abort that is taken for a failure.
  Known machine;
  machine.fail_all = true;
  Outcome outcome = outcome_of({});
  what_if(machine, outcome);
  CHECK(outcome.what_if.empty());
  CHECK(outcome.not_applicable.front().why.find("device is lost") != std::string::npos);
  Known interrupted;
  interrupted.interrupt = true;
  CHECK_THROWS_AS(what_if(interrupted, outcome), Error);
  const std::atomic<bool> stop{true};
  Known stopped;
  Outcome nothing = outcome_of({});
  what_if(stopped, nothing, {.stop = &stop});
  CHECK(stopped.requests.empty());
  CHECK(nothing.what_if.empty());
}

}  // namespace
}  // namespace feedrate::what_if_tests
