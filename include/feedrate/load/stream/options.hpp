// SPDX-License-Identifier: Apache-2.0
// The options of a loader of streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/data/shard.hpp"
#include "feedrate/load/options.hpp"

namespace feedrate::inline v0 {

/// The defaults are those of a Loader, but for one thread that reads.
struct StreamOptions {
  int batch = 32;               ///< samples per batch; with max_total, the most
  int workers = 1;              ///< threads that read, a shard each; 0: the caller of next() reads
  int prefetch = 1;             ///< batches kept ready ahead of the one in use
  std::size_t max_total = 0;    ///< bound of a batch's samples x its longest length;
                                ///< a longer sample is a batch by itself; 0: none
  bool drop_last = false;       ///< leave out what does not fill a batch at the end of a shard
  bool trim = false;            ///< pad ragged fields to the longest sample of their batch alone
  Shard shard = {};             ///< of several processes; they may get different numbers of batches
  std::uint64_t seed = 0;       ///< of the samples' random numbers
  std::uint64_t epochs = 0;     ///< next() ends after so many; 0: never
  std::uint64_t max_skips = 0;  ///< samples that may be left out as unreadable; 0: throw
  double stall_s = 60;          ///< next() throws when no batch was finished for so long

  /// Batches that have memory at the same time.
  int slots() const noexcept { return prefetch + 1; }
};

/// Throws Error(usage) if an option is invalid.
inline const StreamOptions& checked(const StreamOptions& options) {
  detail::require_within("batch", options.batch, 1, std::numeric_limits<int>::max());
  detail::require_within("workers", options.workers, 0, most_workers);
  detail::require_within("prefetch", options.prefetch, 0, most_batches_ahead);
  detail::require_positive(options.stall_s);
  checked(options.shard);
  if (options.drop_last && options.max_total > 0) {
    throw Error(
        Fault::usage,
        "With max_total no batch has a fixed size, so drop_last can't be used: choose one of "
        "them.");
  }
  return options;
}

}  // namespace feedrate::inline v0
