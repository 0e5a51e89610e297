// SPDX-License-Identifier: Apache-2.0
// Tests of core/clock.hpp.
#include "feedrate/core/clock.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

using feedrate::FakeClock;
using feedrate::SteadyClock;

static_assert(feedrate::Clock<SteadyClock>);
static_assert(feedrate::Clock<FakeClock>);

TEST_CASE("the fake clock stands still until it is told to move, by exactly that much") {
  // Bug: a fake clock that moves by itself, or in other units than seconds.
  FakeClock clock;
  CHECK(clock.now_s() == 0);
  clock.advance_s(0.5);
  clock.advance_s(0.25);
  CHECK(clock.now_s() == 0.75);
  CHECK(clock.now_s() == 0.75);
}

TEST_CASE("the steady clock never goes back") {
  // Bug: a wall clock, which may be set back, in the place of the monotonic one.
  const SteadyClock clock;
  double last_s = clock.now_s();
  for (int i = 0; i < 10000; ++i) {
    const double now_s = clock.now_s();
    REQUIRE(now_s >= last_s);
    last_s = now_s;
  }
}

TEST_CASE("CPU seconds grow while this thread computes, and never faster than it can count") {
  // Bug: CPU time that leaves out the nanoseconds, or counts in another unit.
  const double start_s = feedrate::process_cpu_s();
  volatile double sum = 0;
  for (int i = 0; i < 2'000'000; ++i) sum = sum + std::sqrt(static_cast<double>(i));
  const double used_s = feedrate::process_cpu_s() - start_s;
  CHECK(used_s > 1e-4);  // 2 million square roots can't take less than 0.05 ns each
  CHECK(used_s < 600);   // and in milliseconds the number would be far above
}
