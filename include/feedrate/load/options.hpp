// SPDX-License-Identifier: Apache-2.0
// The options of a loader.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "feedrate/core/config.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/data/order.hpp"

namespace feedrate::inline v0 {

/// Threads that one loader may start, and batches that may lie ready or be copied: beyond what
/// helps anywhere, below what takes the machine down.
inline constexpr int most_workers = 4096;
inline constexpr int most_batches_ahead = 1 << 20;

/// A number of workers that the loader finds while it is used, and changes when the consumer or the
/// data change.
inline constexpr int automatic = -1;

/// The defaults are what frameworks do when told nothing, so that gains are measured from there.
struct LoaderOptions {
  int batch = 32;            ///< samples per batch
  int workers = 0;           ///< threads that fill; 0: the caller of next() fills; or `automatic`
  int prefetch = 1;          ///< batches kept ready ahead of the one in use
  int copies_in_flight = 0;  ///< further slots, for batches that a device still copies
  OrderOptions order = {};   ///< shuffle, drop_last, shard, seed
  std::uint64_t epochs = 0;  ///< next() ends after so many; 0: never
  Cursor start = {};         ///< where loading begins, such as the cursor() of another loader
  std::uint64_t max_skips = 0;  ///< samples that may be left out as unreadable; 0: throw
  int run_length = 0;           ///< samples per ticket; 0: chosen from sample size and workers
  bool trim = false;            ///< pad ragged fields to the longest sample of their batch alone
  bool lazy_memory = false;     ///< pages come when a batch needs them, not all at the start
  double stall_s = 60;          ///< next() throws, naming the worker, when nothing moves so long
  int max_workers = 0;          ///< bound of `automatic` workers; 0: 64, or 4 for each core
  std::uint64_t max_memory_bytes = 0;  ///< resident in the process, beyond which `automatic` adds
                                       ///< no worker; 0: what the control group allows

  bool operator==(const LoaderOptions&) const = default;

  /// Batches that have memory at the same time.
  int slots() const noexcept { return prefetch + 1 + copies_in_flight; }

  /// The number of workers among which a batch is shared out; `automatic` counts as 16.
  int planned_workers() const noexcept { return workers == automatic ? 16 : workers; }

  /// No more workers than there are samples in all slots: each loads one at a time.
  int most_automatic_workers(int cores) const noexcept {
    const int most = max_workers > 0 ? max_workers : std::max(64, 4 * cores);
    const double samples = static_cast<double>(slots()) * batch;
    return static_cast<int>(std::min<double>(std::min(most, most_workers), samples));
  }
};

/// The options of a loader that runs as a config says. A caller that fills batches itself has none
/// ready ahead.
inline LoaderOptions loader_options(const Config& config, const OrderOptions& order,
                                    std::uint64_t max_skips) {
  return {.batch = config.batch,
          .workers = config.workers,
          .prefetch = config.workers == 0 ? 0 : config.prefetch,
          .order = order,
          .max_skips = max_skips,
          .run_length = config.run_length};
}

namespace detail {

/// Throws Error(usage) unless least <= value <= most.
inline void require_within(const char* option, int value, int least, int most) {
  if (least <= value && value <= most) return;
  const bool below = value < least;
  throw Error(Fault::usage, std::string("The loader option '") + option + "' is " +
                                std::to_string(value) + "; it must be at " +
                                (below ? "least " : "most ") +
                                std::to_string(below ? least : most) + ".");
}

inline void require_positive(double stall_s) {
  if (!(stall_s > 0)) throw Error(Fault::usage, "The loader's stall_s must be positive.");
}

}  // namespace detail

/// Throws Error(usage) if an option is invalid.
inline const LoaderOptions& checked(const LoaderOptions& options) {
  constexpr int any = std::numeric_limits<int>::max();
  detail::require_within("batch", options.batch, 1, any);
  if (options.workers != automatic) {
    detail::require_within("workers", options.workers, 0, most_workers);
  }
  detail::require_within("max_workers", options.max_workers, 0, most_workers);
  detail::require_within("prefetch", options.prefetch, 0, most_batches_ahead);
  detail::require_within("copies_in_flight", options.copies_in_flight, 0, most_batches_ahead);
  detail::require_within("run_length", options.run_length, 0, any);
  detail::require_positive(options.stall_s);
  return options;
}

}  // namespace feedrate::inline v0
