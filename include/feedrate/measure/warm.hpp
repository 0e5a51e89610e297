// SPDX-License-Identifier: Apache-2.0
// Warming: a fixed part of a dataset is read into the page cache, and all trials use that part.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "feedrate/core/clock.hpp"
#include "feedrate/data/order.hpp"
#include "feedrate/load/sources/subset.hpp"

namespace feedrate::inline v0 {

/// How much may be warmed.
struct WarmLimits {
  std::uint64_t bytes = std::uint64_t{1} << 30;  ///< half of the free memory is a good choice
  double seconds = 10;
  std::uint64_t seed = 0;
  const std::atomic<bool>* stop = nullptr;
  std::size_t least = 0;             ///< samples that are read whatever they take, but for `stop`
  std::function<void()> alive = {};  ///< called after each sample, for whoever watches
  std::size_t samples = 0;  ///< that the part has, all of which are read; 0: those that fit
  std::size_t part = 0;     ///< and so many at least, read or not
};

/// Reads samples, in the order of a Subset with the same seed, until a limit is met, or as many as
/// are told; returns how many. A source that lies on no storage is warm as it is.
inline std::size_t warm_up(const Source& source, const WarmLimits& limits) {
  if (!source.stored()) return source.size();
  const Permutation choice(source.size(), limits.seed, 0);
  const double end_s = SteadyClock{}.now_s() + limits.seconds;
  const bool is_told = limits.samples > 0;
  const std::size_t last = is_told ? std::min(limits.samples, source.size()) : source.size();
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < last; ++i) {
    bytes += source.touch(choice(i));
    if (limits.alive) limits.alive();
    const bool stopped = limits.stop && limits.stop->load(std::memory_order_relaxed);
    const bool enough = bytes >= limits.bytes || SteadyClock{}.now_s() >= end_s;
    if (stopped || (!is_told && enough && i + 1 >= limits.least)) return i + 1;
  }
  return last;
}

/// The part of `source` that lies in the page cache now: all of it, or a fixed random subset.
inline std::shared_ptr<const Source> warmed(std::shared_ptr<const Source> source,
                                            const WarmLimits& limits) {
  const std::size_t fit = warm_up(*source, limits);
  const std::size_t samples = limits.samples > 0 ? limits.samples : std::max(fit, limits.part);
  if (samples >= source->size()) return source;
  return std::make_shared<Subset>(std::move(source), samples, limits.seed);
}

}  // namespace feedrate::inline v0
