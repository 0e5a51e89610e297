// SPDX-License-Identifier: Apache-2.0
// The concept Clock: the library's only source of time. Tests use FakeClock and never sleep.
#pragma once

#include <concepts>
#include <ctime>
#include <string>

namespace feedrate::inline v0 {

/// Anything that tells a monotonic time in seconds from an arbitrary start.
template <class C>
concept Clock = requires(const C& clock) {
  { clock.now_s() } -> std::convertible_to<double>;
};

/// The machine's monotonic clock.
struct SteadyClock {
  double now_s() const noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
};

/// A clock that stands still until it is told to move.
class FakeClock {
 public:
  double now_s() const noexcept { return now_s_; }
  void advance_s(double seconds) noexcept { now_s_ += seconds; }

 private:
  double now_s_ = 0;
};

/// The time of day in UTC, such as "2026-11-22T03:20:00Z".
inline std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// CPU seconds that all threads of this process have used so far.
inline double process_cpu_s() noexcept {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace feedrate::inline v0
