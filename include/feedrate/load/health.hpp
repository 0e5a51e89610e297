// SPDX-License-Identifier: Apache-2.0
// The health of a loader: how well it feeds its consumer, and how much faster it could load.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/load/counters.hpp"
#include "feedrate/load/worker.hpp"

namespace feedrate::inline v0 {

/// What the rate of batches is limited by.
enum class FeedLimit : std::uint8_t {
  consumer,  ///< batches lie ready: whoever trains on them is the slower one
  workers,   ///< they load all the time, and the consumer waits
  prefetch,  ///< the consumer waits at times, while workers rest at others: too few batches ahead
  caller,    ///< there are no workers: the consumer loads
};

constexpr std::string_view name_of(FeedLimit limit) noexcept {
  constexpr std::array<std::string_view, 4> names = {"consumer", "workers", "prefetch", "caller"};
  return names[static_cast<std::size_t>(limit)];
}

/// How well a loader fed its consumer between two readings.
struct Health {
  double elapsed_s = 0;       ///< between the readings
  double waited_s = 0;        ///< the consumer waited for a batch, or filled it itself
  int workers = 0;            ///< threads that load
  std::uint64_t samples = 0;  ///< delivered
  /// So many times as fast the workers could load; empty without workers, or when they have
  /// loaded nothing.
  std::optional<double> headroom;
  FeedLimit limit = FeedLimit::consumer;  ///< of the rate

  /// Share of the time in which the consumer did not wait.
  double fed() const noexcept { return elapsed_s > 0 ? 1 - waited_s / elapsed_s : 1; }

  /// "fed 97 %: waited 3 % of 12.4 s; the loader could go 1.8x faster".
  std::string text() const;
};

namespace detail {

template <class... Values>
std::string printed(const char* format, Values... values) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// What the loader can give beyond what it gives.
inline std::string headroom_text(const Health& health) {
  switch (health.limit) {
    case FeedLimit::caller:
      return "there are no workers, so the caller loads";
    case FeedLimit::workers:
      return printed("%d %s at the limit", health.workers,
                     health.workers == 1 ? "worker is" : "workers are");
    case FeedLimit::prefetch:
      return printed("the loader could go %.1fx faster with more batches ahead", *health.headroom);
    case FeedLimit::consumer:
      break;
  }
  if (!health.headroom) return "the loader had nothing to do";
  return printed("the loader could go %.1fx faster", *health.headroom);
}

/// Waiting for less than this share of the time is no loss worth mending; workers that rest less
/// than this are busy.
inline constexpr double little_waiting = 0.05;
inline constexpr double little_rest = 1.1;

inline FeedLimit limit_of(const Health& health) noexcept {
  if (health.workers == 0) return FeedLimit::caller;
  if (1 - health.fed() < little_waiting) return FeedLimit::consumer;
  return health.headroom.value_or(1) < little_rest ? FeedLimit::workers : FeedLimit::prefetch;
}

}  // namespace detail

inline std::string Health::text() const {
  const double share = std::clamp(100 * fed(), 0.0, 100.0);
  return detail::printed("fed %.0f %%: waited %.0f %% of %.3g s; ", share, 100 - share, elapsed_s) +
         detail::headroom_text(*this);
}

/// Remembers how a loader stood at the last reading.
class HealthMeter {
 public:
  explicit HealthMeter(double now_s) : since_s_(now_s) {}

  /// The health since the last reading. `workers` are all threads, of which the first `active`
  /// fill. One call is a handful of loads for each worker.
  Health read(double now_s, const LoaderCounters& counters,
              const std::vector<std::unique_ptr<Worker>>& workers, int active) {
    Health health;
    health.elapsed_s = now_s - since_s_;
    health.waited_s = std::min(waited(counters) - waited(last_), health.elapsed_s);
    health.samples = counters.samples - last_.samples;
    health.workers = active;
    health.headroom = headroom(workers, active, health.elapsed_s);
    health.limit = detail::limit_of(health);
    since_s_ = now_s;
    last_ = counters;
    remember(workers);
    return health;
  }

 private:
  struct Spent {
    double fill_s = 0, idle_s = 0;
  };

  static double waited(const LoaderCounters& counters) noexcept {
    return counters.wait_s + counters.caller_fill_s;
  }

  static Spent spent(const Worker& worker) noexcept {
    return {worker.fill_s.load(std::memory_order_relaxed),
            worker.idle_s.load(std::memory_order_relaxed)};
  }

  std::optional<double> headroom(const std::vector<std::unique_ptr<Worker>>& workers, int active,
                                 double elapsed_s) const {
    double busy_s = 0;
    for (int w = 0; w < active; ++w) {
      busy_s += busy(*workers[static_cast<std::size_t>(w)], elapsed_s);
    }
    if (!(busy_s > 0)) return std::nullopt;
    return std::max(1.0, active * elapsed_s / busy_s);
  }

  /// Seconds that a worker filled. It writes down what it does when it has done it: the rest is
  /// what it is doing now.
  double busy(const Worker& worker, double elapsed_s) const noexcept {
    const auto index = static_cast<std::size_t>(worker.index);
    const Spent before = index < spent_.size() ? spent_[index] : Spent{};
    const Spent now = spent(worker);
    const double fill_s = now.fill_s - before.fill_s;
    const double open_s = elapsed_s - fill_s - (now.idle_s - before.idle_s);
    const bool loading = worker.loading.load(std::memory_order_relaxed) != 0;
    return std::clamp(fill_s + (loading ? std::max(open_s, 0.0) : 0), 0.0, elapsed_s);
  }

  void remember(const std::vector<std::unique_ptr<Worker>>& workers) {
    spent_.clear();
    for (const auto& worker : workers) spent_.push_back(spent(*worker));
  }

  double since_s_;
  LoaderCounters last_;
  std::vector<Spent> spent_;
};

}  // namespace feedrate::inline v0
