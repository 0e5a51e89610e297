// SPDX-License-Identifier: Apache-2.0
// A small fork-join thread pool for the step on the CPU. The caller takes part.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"

namespace feedrate::inline v0 {

/// Runs the parts of one job at a time on `threads()` threads, the caller's among them.
///
/// Parts are claimed from one 64-bit ticket {generation, parts, next}: a worker that wakes late
/// can't claim a part of a later job by mistake, so the caller never has to wait for sleepers.
/// Not for nested or concurrent use.
class Pool {
 public:
  /// The most parts that one job can have.
  static constexpr std::size_t max_parts = 0xffff;

  explicit Pool(int threads = 1) { resize(threads); }
  ~Pool() { stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// Makes `threads` threads take part from now on. Throws Error(usage) below 1, or where one can't
  /// be started: then the caller works alone.
  void resize(int threads) {
    if (threads < 1) throw Error(Fault::usage, "A thread pool needs at least one thread.");
    if (threads == this->threads()) return;
    stop();
    try {
      while (this->threads() < threads) workers_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      stop();
      throw Error(Fault::usage, "Could not start " + std::to_string(threads) +
                                    " threads of a step: " + error.what() +
                                    ". Ask for fewer or raise the limit (ulimit -u).");
    }
  }

  /// Calls f(part) for 0 <= part < parts, once each, and returns when all are done. If some
  /// throw, one of their exceptions is rethrown, after the others have ended. Allocates nothing.
  template <class F>
  void parallel_for(std::size_t parts, F&& f) {
    if (parts > max_parts) throw Error(Fault::usage, "A job has at most 65535 parts.");
    using Function = std::remove_reference_t<F>;
    context_ = const_cast<void*>(static_cast<const void*>(std::addressof(f)));
    call_ = [](void* context, std::size_t part) { (*static_cast<Function*>(context))(part); };
    publish(parts);
    run_parts();
    wait_until_done(parts);
    rethrow();
  }

 private:
  struct Claim {
    std::size_t part, parts;
  };

  void publish(std::size_t parts) noexcept {
    done_.store(0, std::memory_order_relaxed);
    const std::uint64_t generation = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
    ticket_.store(generation << 32 | parts << 16, std::memory_order_release);
    if (parts > 1) wake();
  }

  void wake() noexcept {
    wakes_.fetch_add(1, std::memory_order_release);
    wakes_.notify_all();
  }

  /// The next part of the current job. Only after this may call_ and context_ be read.
  std::optional<Claim> claim() noexcept {
    std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    while ((ticket & 0xffff) < (ticket >> 16 & 0xffff)) {
      if (ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        return Claim{ticket & 0xffff, ticket >> 16 & 0xffff};
      }
    }
    return std::nullopt;
  }

  void run_parts() noexcept {
    while (const std::optional<Claim> claimed = claim()) {
      run_part(claimed->part);
      const std::size_t done = done_.fetch_add(1, std::memory_order_acq_rel) + std::size_t{1};
      if (done == claimed->parts) done_.notify_all();
    }
  }

  void run_part(std::size_t part) noexcept {
    try {
      call_(context_, part);
    } catch (...) {
      const std::scoped_lock lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  void wait_until_done(std::size_t parts) noexcept {
    spin([&] { return done_.load(std::memory_order_acquire) == parts; });
    for (std::uint32_t done; (done = done_.load(std::memory_order_acquire)) != parts;) {
      done_.wait(done, std::memory_order_acquire);
    }
  }

  void rethrow() {
    const std::scoped_lock lock(error_mutex_);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  void work() noexcept {
    while (!stop_.load(std::memory_order_acquire)) {
      const std::uint32_t seen = wakes_.load(std::memory_order_acquire);
      run_parts();
      if (stop_.load(std::memory_order_acquire)) return;
      spin([&] { return wakes_.load(std::memory_order_acquire) != seen; });
      wakes_.wait(seen, std::memory_order_acquire);
    }
  }

  void stop() noexcept {
    stop_.store(true, std::memory_order_release);
    wake();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    stop_.store(false, std::memory_order_release);
  }

  /// Waits for some microseconds without giving up the core: a step forks several times, and
  /// waking a parked thread costs more than most gaps between its jobs.
  template <class Ready>
  static void spin(const Ready& ready) noexcept {
    for (int i = 0; i < 500 && !ready(); ++i) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }

  std::vector<std::thread> workers_;
  void (*call_)(void*, std::size_t) = nullptr;
  void* context_ = nullptr;
  std::exception_ptr error_;
  std::mutex error_mutex_;
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<std::uint32_t> wakes_{0};
  alignas(64) std::atomic<std::uint32_t> done_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace feedrate::inline v0
