// SPDX-License-Identifier: Apache-2.0
// A place to wait until something has become true, which costs the wakers next to nothing while
// nobody waits.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace feedrate {

/// Waiting for a predicate over sequentially consistent atomics.
///
/// Whoever makes the predicate true stores first and calls `wake` then; whoever waits counts
/// itself first and looks at the predicate then. In the total order of those operations one of
/// the two sees the other, so no wake-up is lost.
class Parking {
 public:
  /// Waits until ready() or until `timeout_s` have passed; returns the last ready().
  template <class Ready>
  bool wait(Ready ready, double timeout_s) {
    std::unique_lock lock(mutex_);
    const Presence presence(waiting_);
    return condition_.wait_for(lock, std::chrono::duration<double>(timeout_s), ready);
  }

  /// Waits until ready().
  template <class Ready>
  void wait(Ready ready) {
    std::unique_lock lock(mutex_);
    const Presence presence(waiting_);
    condition_.wait(lock, ready);
  }

  /// Wakes up to `wanted` of those who wait.
  void wake(std::uint64_t wanted) {
    const std::uint64_t waiting = waiting_.load(std::memory_order_seq_cst);
    if (waiting == 0) return;
    { const std::lock_guard lock(mutex_); }
    if (wanted >= waiting) return condition_.notify_all();
    for (std::uint64_t i = 0; i < wanted; ++i) condition_.notify_one();
  }

  void wake_all() { wake(~std::uint64_t{0}); }

 private:
  class Presence {
   public:
    explicit Presence(std::atomic<std::uint64_t>& count) : count_(count) {
      count_.fetch_add(1, std::memory_order_seq_cst);
    }
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;
    ~Presence() { count_.fetch_sub(1, std::memory_order_seq_cst); }

   private:
    std::atomic<std::uint64_t>& count_;
  };

  std::mutex mutex_;
  std::condition_variable condition_;
  std::atomic<std::uint64_t> waiting_{0};
};

}  // namespace feedrate
