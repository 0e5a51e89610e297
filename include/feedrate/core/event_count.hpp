// SPDX-License-Identifier: Apache-2.0
// An event count: threads wait until a condition is true. Waking costs almost nothing while nobody
// waits.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cmath>
#include <cstdint>
#include <ctime>

#include "feedrate/core/clock.hpp"

namespace feedrate::inline v0 {

/// Waiting for a predicate over sequentially consistent atomics.
///
/// Whoever makes the predicate true stores first and calls `wake` then; whoever waits counts
/// itself first and looks at the predicate then. In the total order of those operations one of
/// the two sees the other, so no wake-up is lost. Threads sleep on the number of wake-ups itself
/// (futex(2)): many are woken by one call, and none has to wait for a mutex behind it.
class EventCount {
 public:
  /// Waits until ready() or until `timeout_s` have passed; returns the last ready().
  template <class Ready>
  bool wait(Ready ready, double timeout_s) {
    const Presence presence(waiting_);
    const double end_s = SteadyClock{}.now_s() + timeout_s;
    for (;;) {
      const std::uint32_t seen = wakes_.load(std::memory_order_seq_cst);
      if (ready()) return true;
      const double left_s = end_s - SteadyClock{}.now_s();
      if (!(left_s > 0)) return false;
      const timespec left = time_of(left_s);
      sleep(seen, &left);
    }
  }

  /// Waits until ready().
  template <class Ready>
  void wait(Ready ready) {
    const Presence presence(waiting_);
    for (;;) {
      const std::uint32_t seen = wakes_.load(std::memory_order_seq_cst);
      if (ready()) return;
      sleep(seen, nullptr);
    }
  }

  /// Wakes up to `wanted` of those who wait, or a few more.
  void wake(std::uint64_t wanted) noexcept {
    if (waiting_.load(std::memory_order_seq_cst) == 0) return;
    wakes_.fetch_add(1, std::memory_order_seq_cst);
    const auto most = static_cast<int>(std::min<std::uint64_t>(wanted, INT_MAX));
    syscall(SYS_futex, &wakes_, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
  }

  void wake_all() noexcept { wake(INT_MAX); }

 private:
  class Presence {
   public:
    explicit Presence(std::atomic<std::uint64_t>& count) noexcept : count_(count) {
      count_.fetch_add(1, std::memory_order_seq_cst);
    }
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;
    ~Presence() { count_.fetch_sub(1, std::memory_order_seq_cst); }

   private:
    std::atomic<std::uint64_t>& count_;
  };

  /// Until somebody wakes, unless somebody has since `seen` was read; seldom for no reason.
  void sleep(std::uint32_t seen, const timespec* timeout) noexcept {
    syscall(SYS_futex, &wakes_, FUTEX_WAIT_PRIVATE, seen, timeout, nullptr, 0);
  }

  /// A day at most: longer sleeps look in between.
  static timespec time_of(double seconds) noexcept {
    const double whole = std::floor(std::min(seconds, 86'400.0));
    return {static_cast<time_t>(whole), static_cast<long>(1e9 * std::min(seconds - whole, 0.999))};
  }

  std::atomic<std::uint32_t> wakes_{0};
  std::atomic<std::uint64_t> waiting_{0};
  static_assert(sizeof(wakes_) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);
  static_assert(sizeof(time_t) == sizeof(long), "SYS_futex takes a timespec of longs");
};

}  // namespace feedrate::inline v0
