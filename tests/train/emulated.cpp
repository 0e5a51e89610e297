// SPDX-License-Identifier: Apache-2.0
#include "feedrate/train/emulated.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace feedrate::emulated_tests {
namespace {

using Catch::Approx;

/// A clock that the test and its sleeper share.
struct SharedClock {
  FakeClock* clock;
  double now_s() const noexcept { return clock->now_s(); }
};

/// Sleeps on the shared clock and wakes up `late_s` after the time asked for.
struct LateSleep {
  FakeClock* clock;
  const double* late_s;
  void operator()(double time_s) const noexcept {
    const double ahead_s = time_s - clock->now_s();
    if (ahead_s > 0) clock->advance_s(ahead_s + *late_s);
  }
};

struct Bed {
  FakeClock clock;
  double late_s = 0;
  EmulatedStep<SharedClock, LateSleep> step{3.5e-3, 4, SharedClock{&clock},
                                            LateSleep{&clock, &late_s}};

  /// Seconds that `steps` steps take, each `gap_s` after the one before it.
  double run(int steps, double gap_s, std::size_t count = 4) {
    const double begin_s = clock.now_s();
    for (int s = 0; s < steps; ++s) {
      clock.advance_s(gap_s);
      step.run(count);
    }
    return clock.now_s() - begin_s;
  }
};

TEST_CASE("A late wake-up costs an emulated device nothing", "[emulated]") {
  // Bug: lateness that adds up. Of 1,000 steps of 3.5 ms, each seen 0.1 ms late, only the last
  // lateness is left; counted in full it would be 2.8 % of the time.
  Bed bed;
  bed.late_s = 1e-4;
  CHECK(bed.run(1000, 0) == Approx(3.5 + 1e-4));
}

TEST_CASE("Waiting for data counts fully as idle", "[emulated]") {
  // Bug: a step that makes up for the time in which there were no data. Steps of 3.5 ms with 2 ms
  // of waiting before each take 5.5 ms each, late or not.
  Bed bed;
  bed.late_s = 1e-4;
  CHECK(bed.run(1000, 2e-3) == Approx(5.5 + 1e-4));
}

TEST_CASE("At most one step of a stalled machine is made up for", "[emulated]") {
  // Bug: a burst of steps that take no time after a stall of 100 ms.
  Bed bed;
  bed.late_s = 0.1;
  bed.run(1, 0);
  bed.late_s = 0;
  CHECK(bed.run(1, 0) == Approx(0).margin(1e-12));
  CHECK(bed.run(1, 0) == Approx(3.5e-3).margin(1e-12));
  CHECK(bed.run(1, 0) == Approx(3.5e-3));
}

TEST_CASE("A partial batch takes a proportional time", "[emulated]") {
  // Bug: the last batch of an epoch that takes as long as a whole one.
  Bed bed;
  CHECK(bed.run(10, 0, 1) == Approx(10 * 3.5e-3 / 4));
}

TEST_CASE("The real sleeper does not return early", "[emulated]") {
  // Bug: a timespec that is rounded down by seconds, so that steps take no time at all.
  const double until_s = SteadyClock{}.now_s() + 2e-3;
  SleepUntil{}(until_s);
  CHECK(SteadyClock{}.now_s() > until_s - 1e-6);
}

}  // namespace
}  // namespace feedrate::emulated_tests
