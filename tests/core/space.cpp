// SPDX-License-Identifier: Apache-2.0
#include "feedrate/core/space.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

namespace feedrate::space_tests {
namespace {

TEST_CASE("A space spans each config once, and without workers nothing is prefetched", "[space]") {
  // Bug: configs that differ in nothing that matters, tried twice.
  const auto configs = configs_of({.workers = {0, 1, 2}, .prefetch = {1, 4}, .batch = {8, 16}});
  CHECK(configs.size() == 2 * (1 + 2 * 2));
  for (const Config& config : configs) CHECK((config.workers == 0) == (config.prefetch == 0));
}

TEST_CASE("Workers load no more ahead than an epoch has, and nobody stays alone", "[space]") {
  // Bug: 64 workers with 4 batches each, of an epoch of 125; or no more than 16 workers for an
  // epoch of 63 batches, where 32 with one batch each are faster.
  const auto configs = configs_of(
      {.workers = {0, 2, 8, 9, 32}, .prefetch = {2, 4}, .persistent = {true}, .most_ahead = 16});
  CHECK(configs.size() == 1 + 2 + 1 + 1);
  for (const Config& config : configs) {
    CHECK(config.workers * (config.prefetch - 1) < 16);
    CHECK(config.persistent == (config.workers > 0));
  }
}

TEST_CASE("Every axis of Config takes part in the sweep", "[space]") {
  // Bug: an axis that is forgotten in the sweep though it is a field of Config.
  const Space space{.workers = {1, 2},
                    .prefetch = {1, 2},
                    .pinned = {false, true},
                    .step_threads = {1, 2},
                    .graph = {false, true},
                    .preprocess = {Preprocess::device, Preprocess::host},
                    .precision = {Precision::fp32, Precision::bf16},
                    .batch = {8, 16},
                    .run_length = {0, 4},
                    .persistent = {false, true},
                    .start_method = {StartMethod::own, StartMethod::spawn},
                    .effective_batch = 32};
  const auto configs = configs_of(space);
  CHECK(configs.size() == 2048);
  for_each_axis([&](const auto& axis) {
    const auto first = configs.front().*axis.field;
    CHECK(std::any_of(configs.begin(), configs.end(),
                      [&](const Config& config) { return config.*axis.field != first; }));
  });
}

TEST_CASE("A tier holds the changes of its own axes and of narrower tiers", "[space]") {
  // Bug: a batch that counts as a safe change.
  const Config from{};
  const Config workers{.workers = 4};
  const Config bf16{.workers = 4, .precision = Precision::bf16};
  const Config batch{.precision = Precision::bf16, .batch = 64};
  const Config spawned{.workers = 4, .start_method = StartMethod::spawn};
  CHECK(within_tier(from, workers, Tier::safe));
  CHECK_FALSE(within_tier(from, spawned, Tier::safe));
  CHECK(within_tier(from, spawned, Tier::processes));
  CHECK_FALSE(within_tier(from, bf16, Tier::safe));
  CHECK(within_tier(from, bf16, Tier::numerics));
  CHECK_FALSE(within_tier(from, batch, Tier::numerics));
  CHECK(within_tier(from, batch, Tier::training));
}

TEST_CASE("Neighbours are one step apart, and a batch takes its accumulation with it", "[space]") {
  // Bug: with an effective batch no two batches are neighbours, since both axes change.
  const Config config{.workers = 2, .prefetch = 2, .batch = 32, .accumulate = 4};
  Config other = config;
  CHECK_FALSE(are_neighbours(config, other));
  other.batch = 64;
  other.accumulate = 1;
  CHECK_FALSE(are_neighbours(config, other));
  other.accumulate = 2;
  CHECK(are_neighbours(config, other));
  other.workers = 4;
  CHECK_FALSE(are_neighbours(config, other));
  other = config;
  other.prefetch = 8;
  CHECK_FALSE(are_neighbours(config, other));
}

TEST_CASE("Cheaper means fewer workers, then less memory, then a wider precision", "[space]") {
  // Bug: a tie that is broken towards the config that takes more.
  const auto cheaper = [](const Config& a, const Config& b) {
    return feedrate::cheaper(a, b, Config{});
  };
  CHECK(cheaper({.workers = 1, .batch = 64}, {.workers = 2, .batch = 32}));
  CHECK(cheaper({.workers = 2, .prefetch = 1}, {.workers = 2, .prefetch = 4}));
  CHECK(cheaper({.precision = Precision::fp32}, {.precision = Precision::bf16}));
  CHECK(cheaper({.graph = false}, {.graph = true}));
  CHECK(cheaper({.preprocess = Preprocess::device}, {.preprocess = Preprocess::host}));
  CHECK(cheaper({.step_threads = 2}, {.step_threads = 4}));
}

TEST_CASE("Between equals the step's threads and pinned memory stay as they are", "[space]") {
  // Bug: a line to write into a script that changes nothing.
  const Config now{.step_threads = 4};
  CHECK(cheaper({.step_threads = 4}, {.step_threads = 1}, now));
  CHECK_FALSE(cheaper({.step_threads = 1}, {.step_threads = 4}, now));
  CHECK(cheaper({.step_threads = 1}, {.step_threads = 2}, now));
  CHECK(cheaper({.workers = 1, .step_threads = 1}, {.workers = 2, .step_threads = 4}, now));
  // Bug: a script with pin_memory=True was told to turn that off too, which gained nothing.
  CHECK(cheaper({.pinned = true}, {.pinned = false}, Config{.pinned = true}));
  CHECK(cheaper({.pinned = false}, {.pinned = true}, Config{}));
}

}  // namespace
}  // namespace feedrate::space_tests
