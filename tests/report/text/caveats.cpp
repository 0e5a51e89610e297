// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/text/caveats.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace feedrate::caveats_tests {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A larger update scales the learning rate by the same factor", "[caveats]") {
  // Bug: a factor that is turned round, or that forgets what accumulates.
  const auto caveats = caveats_of({.batch = 32}, {.batch = 128});
  REQUIRE(caveats.size() == 1);
  CHECK(caveats[0] ==
        "batch 32 -> 128: multiply the learning rate by 4 (linear scaling rule, Goyal et al. "
        "2017), and check that training converges");
  CHECK_THAT(caveats_of({.batch = 64}, {.batch = 32}).at(0), ContainsSubstring("by 0.5 ("));
  CHECK_THAT(caveats_of({.batch = 64}, {.batch = 32}).at(0), !ContainsSubstring("after"));
  CHECK_THAT(caveats_of({.batch = 48}, {.batch = 64}).at(0), ContainsSubstring("by 1.33 ("));
  CHECK_THAT(caveats_of({.batch = 32, .accumulate = 2}, {.batch = 128, .accumulate = 1}).at(0),
             ContainsSubstring("by 2 ("));
}

TEST_CASE("A loop that accumulates gradients learns how to keep its updates", "[caveats]") {
  // Bug: a learning rate alone, though fewer batches in an update make up for larger ones.
  const Config from{.batch = 32};
  const auto first = [&](int batch, int batches) {
    return caveats_of(from, {.batch = batch}, batches).at(0);
  };
  CHECK_THAT(first(64, 4), ContainsSubstring("learning rate by 2") &&
                               ContainsSubstring("; or update the weights after 2 batches (today "
                                                 "after 4) and divide the loss accordingly"));
  CHECK_THAT(first(128, 4), ContainsSubstring("after each batch (today after 4)"));
  CHECK_THAT(first(16, 1), ContainsSubstring("after 2 batches (today after each)"));
  for (const auto& [batch, batches] : {std::pair{256, 4}, {48, 4}, {64, 1}, {64, 0}}) {
    CHECK_THAT(first(batch, batches), !ContainsSubstring("or update"));
  }
  CHECK(caveats_of(from, from, 4).empty());
}

TEST_CASE("A smaller batch with accumulation keeps its learning rate", "[caveats]") {
  // Bug: a learning rate that is scaled although each update sees as many samples.
  const auto caveats = caveats_of({.batch = 32, .accumulate = 4}, {.batch = 128, .accumulate = 1});
  REQUIRE(caveats.size() == 1);
  CHECK_THAT(caveats[0], ContainsSubstring("1 step for each update of 128 samples"));
  CHECK_THAT(caveats[0], !ContainsSubstring("learning rate"));
}

TEST_CASE("Another precision says that convergence was not measured", "[caveats]") {
  // Bug: a speed-up by rounding that is sold as free.
  const auto caveats = caveats_of({}, {.precision = Precision::bf16, .batch = 64});
  REQUIRE(caveats.size() == 2);
  CHECK(caveats[1] == "precision fp32 -> bf16: check that training converges (not measured)");
}

TEST_CASE("Another way to start workers says what it asks of the script", "[caveats]") {
  // Bug: workers that import the script again, and train it once more each.
  const auto caveat = [](StartMethod method) {
    return caveats_of({}, {.workers = 2, .start_method = method}).at(0);
  };
  CHECK_THAT(caveat(StartMethod::spawn), ContainsSubstring("by spawn import the script again"));
  CHECK_THAT(caveat(StartMethod::fork), ContainsSubstring("neither CUDA nor locks"));
  CHECK(caveats_of({.workers = 2, .start_method = StartMethod::fork}, {.workers = 2}).empty());
}

TEST_CASE("Safe changes have no caveat, and each tier has its own", "[caveats]") {
  // Bug: a caveat of the widest tier at the choice of the narrowest.
  Report report;
  report.outcome.trials.resize(3);
  report.outcome.trials[1].config = {.workers = 4, .prefetch = 2};
  report.outcome.trials[2].config = {.workers = 4, .prefetch = 2, .batch = 64};
  CHECK(caveats_of(report, {.trial = 1}).empty());
  CHECK(caveats_of(report, {.trial = 2}).size() == 1);
  report.workload.script.emplace().batches_per_update = 4;
  CHECK_THAT(caveats_of(report, {.trial = 2}).at(0), ContainsSubstring("today after 4"));
}

}  // namespace
}  // namespace feedrate::caveats_tests
