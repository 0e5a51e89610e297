// SPDX-License-Identifier: Apache-2.0
// The state of one worker: what it is loading, and what it has done so far.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/load/counters.hpp"

namespace feedrate::inline v0 {

/// A moment's rest in a loop that looks at memory another core is about to write.
inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks whether `ready()` has become true, about as long as falling asleep and being woken would
/// take (20 us): never twice as bad as knowing beforehand which is shorter. Returns the last look.
/// Source: Karlin, Li, Manasse, Owicki, "Empirical studies of competitive spinning", SOSP 1991.
template <class Ready>
bool spin_wait(Ready&& ready) noexcept {
  constexpr int looks = 400;
  for (int look = 0; look < looks; ++look) {
    if (ready()) return true;
    pause_briefly();
  }
  return ready();
}

/// One thread that fills slots: a worker, or the caller where there are none.
struct alignas(64) Worker {
  explicit Worker(int worker_index) : index(worker_index) {
    constexpr std::size_t usual_fields = 16;  // so that the first sample allocates nothing
    places.reserve(usual_fields);
    lengths.reserve(usual_fields);
  }

  const int index;
  std::atomic<bool> busy{false};          ///< may hold a ticket
  std::atomic<bool> exited{false};        ///< will touch nothing any more
  std::atomic<std::uint64_t> loading{0};  ///< sample + 1; 0 when none
  std::atomic<std::uint64_t> filled{0};   ///< samples
  std::atomic<double> fill_s{0};
  std::atomic<double> idle_s{0};

  std::vector<std::byte*> places;      ///< scratch of the sample being loaded
  std::vector<std::int32_t*> lengths;  ///< likewise

  /// What it has done so far.
  void add_to(LoaderCounters& counters) const noexcept {
    counters.filled += filled.load(std::memory_order_relaxed);
    counters.fill_s += fill_s.load(std::memory_order_relaxed);
    counters.idle_s += idle_s.load(std::memory_order_relaxed);
  }

  /// Calls `fill`, which returns the number of samples that it wrote, and counts them and the time.
  template <class Fill>
  std::size_t timed(Fill&& fill) {
    const double start_s = SteadyClock{}.now_s();
    loading.store(1, std::memory_order_relaxed);
    const std::size_t samples = fill();
    loading.store(0, std::memory_order_relaxed);
    add(fill_s, SteadyClock{}.now_s() - start_s);
    add(filled, static_cast<std::uint64_t>(samples));
    return samples;
  }

  /// Only the worker itself writes its counters, so load and store need not be one operation.
  template <class T>
  static void add(std::atomic<T>& counter, T value) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
};

}  // namespace feedrate::inline v0
