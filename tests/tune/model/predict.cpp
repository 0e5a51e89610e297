// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/model/predict.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace feedrate::predict_tests {
namespace {

using Catch::Approx;

/// A loader of 100 samples/s per worker, and a step of 1 ms + 2 ms per sample.
Demands demands() {
  Demands demands;
  demands.cores = 8;
  demands.loader.emplace();
  demands.loader->law = {100, 0, 0};
  demands.loader->serial_s = 0.01;
  demands.steps.push_back({Precision::fp32, 1, false, {1e-3, 2e-3}, {}, 0, 0});
  return demands;
}

TEST_CASE("Without workers the times of loading and stepping add up", "[predict]") {
  // Bug: overlap predicted where the caller does everything itself.
  const auto prediction = predict(demands(), {.batch = 10});
  REQUIRE(prediction);
  CHECK(1 / prediction->samples_per_s == Approx(0.01 + 2.1e-3));
  CHECK(prediction->bottleneck == Bottleneck::serial);
}

TEST_CASE("A batch takes at least as long as the parts that are known", "[predict]") {
  // Bug: rounds of three batches of 10 s, because the loader was not measured yet.
  Demands known = demands();
  CHECK(least_batch_s(known, {.batch = 10}) == Approx(0.121));
  known.loader.reset();
  CHECK(least_batch_s(known, {.batch = 10}) == Approx(0.021));
  known.steps.clear();
  CHECK(least_batch_s(known, {.batch = 10}) == 0);
}

TEST_CASE("With workers the lowest ceiling holds", "[predict]") {
  // Bug: the sum of times where they overlap, or the wrong limit named.
  const auto starved = predict(demands(), {.workers = 2, .prefetch = 2, .batch = 10});
  CHECK(starved->samples_per_s == Approx(200));
  CHECK(starved->bottleneck == Bottleneck::loader);
  const auto fed = predict(demands(), {.workers = 8, .prefetch = 2, .batch = 10});
  CHECK(fed->samples_per_s == Approx(10 / 0.021));
  CHECK(fed->bottleneck == Bottleneck::device);
}

TEST_CASE("Cores that loader and step share are a separate ceiling", "[predict]") {
  // Bug: a prediction of more work than the cores can do.
  Demands shared = demands();
  shared.cores = 2;
  shared.loader->cpu_s = 0.005;
  shared.steps[0].cpu_s = 0.005;
  const auto prediction = predict(shared, {.workers = 8, .prefetch = 2, .batch = 10});
  CHECK(prediction->samples_per_s == Approx(200));
  CHECK(prediction->bottleneck == Bottleneck::cores);
}

TEST_CASE("The core-seconds of a sample are those of that number of workers", "[predict]") {
  // Bug: a bound of the cores below what the loader was seen to reach. A sample that waits costs
  // one worker 5 ms of a core, since the core falls asleep each time, and 16 of them 1.25 ms each.
  Demands waiting = demands();
  waiting.cores = 2;
  waiting.loader->cpu_s = 0.005;
  waiting.loader->cpu_s_by_workers = {{1, 0.005}, {16, 0.00125}};
  const auto rate = [&](int workers) {
    return predict(waiting, {.workers = workers, .prefetch = 2, .batch = 10});
  };
  CHECK(rate(16)->busy_cores / rate(16)->samples_per_s == Approx(0.00125));
  CHECK(rate(4)->busy_cores / rate(4)->samples_per_s == Approx(0.0025));
  CHECK(rate(16)->samples_per_s == Approx(10 / 0.021));  // of the step; 2 / 0.005 would be less
}

TEST_CASE("A separate device runs while the caller loads, unless copies block the caller",
          "[predict]") {
  // Bug: the plain sum for a device that works in the background; pageable copies for free.
  Demands copying = demands();
  copying.copy_pinned = 1000;
  copying.copy_pageable = 200;
  const auto pinned = predict(copying, {.pinned = true, .batch = 10});
  CHECK(pinned->samples_per_s == Approx(100));
  const auto pageable = predict(copying, {.batch = 10});
  CHECK(1 / pageable->samples_per_s == Approx(0.01 + 0.005));
  const auto copy_bound = predict(copying, {.workers = 8, .prefetch = 2, .batch = 10});
  CHECK(copy_bound->samples_per_s == Approx(200));
  CHECK(copy_bound->bottleneck == Bottleneck::copy);
}

TEST_CASE("The caller fills, stages and launches one after the other", "[predict]") {
  // Bug: launches for free, or staging for free as soon as there are workers. A sample takes 10 ms
  // to load, 5 ms to stage and 4 ms to launch: 40 ms for a batch of 10.
  Demands launching = demands();
  launching.copy_pinned = 1000;
  launching.copy_pageable = 200;
  launching.steps[0].launch_s = 0.04;
  const auto all = predict(launching, {.batch = 10});
  CHECK(1 / all->samples_per_s == Approx(0.01 + 0.005 + 0.004));
  CHECK(all->bottleneck == Bottleneck::serial);
  CHECK(1 / predict(launching, {.pinned = true, .batch = 10})->samples_per_s ==
        Approx(0.01 + 0.004));
  const auto staged = predict(launching, {.workers = 8, .prefetch = 2, .batch = 10});
  CHECK(1 / staged->samples_per_s == Approx(0.005 + 0.004));
  CHECK(staged->bottleneck == Bottleneck::serial);
  const auto fed = predict(launching, {.workers = 8, .prefetch = 2, .pinned = true, .batch = 10});
  CHECK(1 / fed->samples_per_s == Approx(0.004));
}

TEST_CASE("A larger buffer helps varying speeds, and steady ones not at all", "[predict]") {
  // Bug: prefetch that helps where nothing varies, or hurts where something does.
  Demands varying = demands();
  varying.loader->variability = 10;
  const Config small{.workers = 5, .prefetch = 1, .batch = 10};
  Config large = small;
  large.prefetch = 8;
  CHECK(predict(varying, large)->samples_per_s > 1.05 * predict(varying, small)->samples_per_s);
  CHECK(predict(demands(), large)->samples_per_s ==
        Approx(predict(demands(), small)->samples_per_s));
}

TEST_CASE("A step recorded as a graph has its own time", "[predict]") {
  // Bug: the launches of a step that are counted although it is launched as a whole.
  Demands launched = demands();
  launched.steps.push_back({Precision::fp32, 1, true, {0, 2e-3}, {}, 0, 0});
  const Config config{.workers = 100, .prefetch = 2, .batch = 10};
  Config graph = config;
  graph.graph = true;
  CHECK(predict(launched, config)->samples_per_s == Approx(10 / 0.021));
  CHECK(predict(launched, graph)->samples_per_s == Approx(500));
  CHECK_FALSE(predict(demands(), graph));
}

TEST_CASE("Preprocessing on the host costs the workers' time, and bytes that travel", "[predict]") {
  // Bug: floats that are made and sent for nothing. A loader of 50 samples/s per worker then, and a
  // fourth of the copies.
  Demands bytes = demands();
  bytes.copy_pinned = 1000;
  bytes.loader->preprocess_factor[Preprocess::host] = 0.5;
  bytes.loader->cpu_s = 0.01;
  bytes.cores = 100;
  bytes.copy_factor[Preprocess::host] = 0.25;
  Config config{.workers = 2, .prefetch = 2, .pinned = true, .batch = 10};
  CHECK(predict(bytes, config)->samples_per_s == Approx(200));
  CHECK(predict(bytes, config)->busy_cores == Approx(2));
  config.preprocess = Preprocess::host;
  CHECK(predict(bytes, config)->samples_per_s == Approx(100));
  CHECK(predict(bytes, config)->busy_cores == Approx(2));
  config.workers = 50;
  CHECK(predict(bytes, config)->samples_per_s == Approx(250));
  CHECK(predict(bytes, config)->bottleneck == Bottleneck::copy);
}

TEST_CASE("What was not measured is not predicted", "[predict]") {
  // Bug: a rate out of nothing for a precision whose step failed.
  CHECK_FALSE(predict(demands(), {.precision = Precision::fp16}));
  Demands no_loader = demands();
  no_loader.loader.reset();
  CHECK_FALSE(predict(no_loader, {}));
}

}  // namespace
}  // namespace feedrate::predict_tests
