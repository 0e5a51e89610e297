// SPDX-License-Identifier: Apache-2.0
// The record of skipped samples.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
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

/// Skips, one of each sample, in the order of discovery.
class DistinctSkips {
 public:
  /// False where one of its sample is there already.
  bool add(const Skip& skip) {
    if (!known_.insert(skip.sample).second) return false;
    all_.push_back(skip);
    return true;
  }

  bool contains(std::size_t sample) const { return known_.contains(sample); }
  const std::vector<Skip>& all() const noexcept { return all_; }

 private:
  std::set<std::size_t> known_;
  std::vector<Skip> all_;
};

/// Which samples were skipped, within an allowance of distinct ones: the same bad file in the
/// next epoch is no news.
class Skips {
 public:
  /// Whether `skip` may be left out when `allowed` distinct samples may; records it if so.
  bool admit(const Skip& skip, std::uint64_t allowed) {
    const MutexLock lock(mutex_);
    if (distinct_.all().size() >= allowed && !distinct_.contains(skip.sample)) return false;
    distinct_.add(skip);
    total_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  /// Each skipped sample once, in the order of discovery.
  std::vector<Skip> distinct() const {
    const MutexLock lock(mutex_);
    return distinct_.all();
  }

  /// How often a sample was skipped, in all epochs.
  std::uint64_t total() const noexcept { return total_.load(std::memory_order_relaxed); }

 private:
  mutable Mutex mutex_;
  DistinctSkips distinct_;
  std::atomic<std::uint64_t> total_{0};
};

}  // namespace feedrate::inline v0
