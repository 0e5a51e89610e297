// SPDX-License-Identifier: Apache-2.0
// The record of skipped samples.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "feedrate/core/thread.hpp"

namespace feedrate::inline v0 {

/// A sample that was left out, where the loader was allowed to.
struct Skip {
  std::size_t sample;  ///< its index in the dataset
  std::string name;    ///< what the dataset calls it; may be empty
  std::string reason;  ///< what the dataset threw
};

/// Which samples were skipped, within an allowance of distinct ones: the same bad file in the
/// next epoch is no news.
class Skips {
 public:
  /// Whether `skip` may be left out when `allowed` distinct samples may; records it if so.
  bool admit(const Skip& skip, std::uint64_t allowed) {
    const MutexLock lock(mutex_);
    const auto place = std::lower_bound(known_.begin(), known_.end(), skip.sample);
    if (place == known_.end() || *place != skip.sample) {
      if (distinct_.size() >= allowed) return false;
      known_.insert(place, skip.sample);
      distinct_.push_back(skip);
    }
    total_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  /// Each skipped sample once, in the order of discovery.
  std::vector<Skip> distinct() const {
    const MutexLock lock(mutex_);
    return distinct_;
  }

  /// How often a sample was skipped, in all epochs.
  std::uint64_t total() const noexcept { return total_.load(std::memory_order_relaxed); }

 private:
  mutable Mutex mutex_;
  std::vector<std::size_t> known_;  ///< the samples in distinct_, ascending
  std::vector<Skip> distinct_;
  std::atomic<std::uint64_t> total_{0};
};

}  // namespace feedrate::inline v0
