// SPDX-License-Identifier: Apache-2.0
// An emulated device: its steps take an exact time and no core.
#pragma once

#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>

#include "feedrate/core/clock.hpp"

namespace feedrate::inline v0 {

/// When steps end that take an exact time, although whoever waits for them wakes up late.
///
/// The device's own clock advances by the step's time in each step, and by the host's time between
/// two steps: the host's lateness in seeing a step end is taken off the next one. So waiting for
/// data counts fully as idle, the lateness not at all, and no step needs a core to spin on. More
/// than one step is not made up for: such a delay is a stalled machine, not a late wake-up.
class StepDeadlines {
 public:
  /// A step of `step_s` begins at `now_s`; the time at which it ends.
  double begin(double now_s, double step_s) noexcept {
    deadline_s_ = now_s - std::min(late_s_, step_s) + step_s;
    return deadline_s_;
  }

  /// It was seen to have ended at `now_s`, at its deadline or later.
  void end(double now_s) noexcept { late_s_ = now_s - deadline_s_; }

 private:
  double deadline_s_ = 0;
  double late_s_ = 0;
};

/// Sleeps until the monotonic clock shows `time_s`; returns at once where it has passed. The
/// kernel's default slack of 50 us would be more than 1 % of a step of 3.5 ms.
struct SleepUntil {
  void operator()(double time_s) const noexcept {
    thread_local const int slack = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    static_cast<void>(slack);
    const double whole_s = std::floor(time_s);
    const timespec until{static_cast<std::time_t>(whole_s),
                         static_cast<long>(1e9 * (time_s - whole_s))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }
};

/// A step on an emulated device. One thread runs it.
template <Clock C = SteadyClock, class Sleep = SleepUntil>
class EmulatedStep {
 public:
  /// A whole batch takes `step_s`.
  EmulatedStep(double step_s, int batch, C clock = {}, Sleep sleep = {})
      : sample_s_(step_s / batch), clock_(clock), sleep_(sleep) {}

  /// Returns when `count` samples are done: a part of a batch takes its part of the time.
  void run(std::size_t count) {
    sleep_(deadlines_.begin(clock_.now_s(), sample_s_ * static_cast<double>(count)));
    deadlines_.end(clock_.now_s());
  }

 private:
  double sample_s_;
  StepDeadlines deadlines_;
  C clock_;
  Sleep sleep_;
};

}  // namespace feedrate::inline v0
