// SPDX-License-Identifier: Apache-2.0
// The counters of a loader.
#pragma once

#include <cstdint>

namespace feedrate::inline v0 {

/// Totals since the loader was made. Differences of two readings describe what lay between.
struct LoaderCounters {
  std::uint64_t batches = 0;  ///< leased
  std::uint64_t samples = 0;  ///< delivered in leased batches
  std::uint64_t skipped = 0;  ///< left out because they could not be loaded
  std::uint64_t failed = 0;   ///< in batches that were not delivered because of an error
  std::uint64_t bytes = 0;    ///< delivered in leased batches
  std::uint64_t filled = 0;   ///< samples written, leased or not
  double wait_s = 0;          ///< the consumer waited for a batch
  double caller_fill_s = 0;   ///< the consumer filled batches itself (0 workers)
  double fill_s = 0;          ///< workers filled, or waited for their shard, summed over workers
  double idle_s = 0;          ///< workers had nothing to fill, summed over workers

  friend LoaderCounters operator-(LoaderCounters a, const LoaderCounters& b) noexcept {
    a.batches -= b.batches;
    a.samples -= b.samples;
    a.skipped -= b.skipped;
    a.failed -= b.failed;
    a.bytes -= b.bytes;
    a.filled -= b.filled;
    a.wait_s -= b.wait_s;
    a.caller_fill_s -= b.caller_fill_s;
    a.fill_s -= b.fill_s;
    a.idle_s -= b.idle_s;
    return a;
  }
};

}  // namespace feedrate::inline v0
