// SPDX-License-Identifier: Apache-2.0
#include "feedrate/measure/async_round.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "fake_device.hpp"

namespace feedrate::async_round_tests {
namespace {

using Catch::Approx;

TEST_CASE("A round of an asynchronous device ends when the device is done", "[async_round]") {
  // Bug: a rate of queueing, or a clock that includes the first step. The host queues a step of
  // 10 samples each 10 ms, the device takes 30 ms for one: the host stops behind 20 of them, at
  // 0.2 s, and the device ends them at 0.6 s.
  FakeClock clock;
  FakeDevice device(&clock);
  device.step_time_s = 0.03;
  const auto queue = [&] {
    clock.advance_s(0.01);
    device.step();
    return std::size_t{10};
  };
  const Round round = run_async_round(
      device, queue, [] { return 1; }, {.seconds = 0.195}, clock);
  CHECK(round.batches == 20);
  CHECK(round.samples == 200);
  CHECK(round.duration_s == Approx(0.01 + 20 * 0.03));
  CHECK(round.step_s == Approx(0.6));
  CHECK(round.wait_s == Approx(0.01));
  CHECK(round.device_bytes == 1000);
}

TEST_CASE("The host time of a batch excludes waiting for the device", "[async_round]") {
  // Bug: launches that are as long as the step, once enough of them pile up. The host queues a step
  // in 10 ms; every third call waits for the device for 50 ms.
  FakeClock clock;
  FakeDevice device(&clock);
  int calls = 0;
  const auto queue = [&] {
    clock.advance_s(++calls % 3 == 0 ? 0.06 : 0.01);
    device.step();
    return std::size_t{1};
  };
  const Round round = run_async_round(
      device, queue, [] { return 1; }, {.seconds = 0.5}, clock);
  CHECK(round.host_s == Approx(0.01));
}

TEST_CASE("A warm-up of an asynchronous device ends with the device's work", "[async_round]") {
  // Bug: steps of the warm-up that end in the window, and count as its own. The host queues a step
  // each 10 ms, the device takes 30 ms, and the ring drains from 9 to 0 meanwhile. Half-time of
  // 0.1 s is behind 6 batches, as the first of them takes the host 1 ms.
  FakeClock clock;
  FakeDevice device(&clock);
  device.step_time_s = 0.03;
  int calls = 0;
  const auto queue = [&] {
    clock.advance_s(++calls == 2 ? 0.001 : 0.01);
    device.step();
    return std::size_t{10};
  };
  const auto ready = [&] { return std::max(0, 10 - 2 * calls); };
  const Round round = run_async_round(device, queue, ready, {.seconds = 0.0995}, clock);
  CHECK(round.warm_up_batches == 7);
  CHECK(round.batches == 10);
  CHECK(round.samples == 100);
  CHECK(round.step_s == Approx(10 * 0.03));
  CHECK(round.duration_s == Approx(0.01 + 10 * 0.03));
  CHECK(round.host_s == Approx(0.01));
  CHECK(round.ring_at_start == 0);
}

TEST_CASE("A device that waits for the host is not busy", "[async_round]") {
  // Bug: the time in which nothing was queued counted as the device's. A batch each 50 ms, of
  // which the step takes 10 ms.
  FakeClock clock;
  FakeDevice device(&clock);
  device.step_time_s = 0.01;
  const auto queue = [&] {
    clock.advance_s(0.05);
    device.step();
    return std::size_t{1};
  };
  const Round round = run_async_round(
      device, queue, [] { return 0; }, {.seconds = 0.99}, clock);
  CHECK(round.batches == 20);
  CHECK(round.busy() == Approx(0.2 / 1.01));
  CHECK(round.wait_s == Approx(1.01 - 0.2));
}

TEST_CASE("An aborted round of an asynchronous device ends at the next batch", "[async_round]") {
  // Bug: Ctrl-C that waits for the end of a long round.
  FakeDevice device;
  const std::atomic<bool> abort{true};
  const auto queue = [] { return std::size_t{1}; };
  CHECK_THROWS_AS(run_async_round(device, queue, [] { return 1; }, {.abort = &abort}), Error);
}

}  // namespace
}  // namespace feedrate::async_round_tests
