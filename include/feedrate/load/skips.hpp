// SPDX-License-Identifier: Apache-2.0
// The record of skipped samples.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "feedrate/core/thread.hpp"

namespace feedrate::inline v0 {

/// A sample that was left out, where the loader was allowed to.
struct Skip {
  std::size_t sample;  ///< its index in the dataset; of other streams, shard * 2^40 + index there
  std::string name;    ///< what the dataset calls it; may be empty
  std::string reason;  ///< what the dataset threw
};

/// Skips, one of each sample, in the order of discovery. A table of the places in that order, by
/// the samples' hashes: <set> and <unordered_set> cost whoever includes the loader 4 to 9 MiB.
class DistinctSkips {
 public:
  /// False where one of its sample is there already.
  bool add(const Skip& skip) {
    if (2 * (all_.size() + 1) > table_.size()) grow();
    std::size_t& place = table_[slot_of(skip.sample)];
    if (place != 0) return false;
    all_.push_back(skip);
    place = all_.size();
    return true;
  }

  bool contains(std::size_t sample) const {
    return !table_.empty() && table_[slot_of(sample)] != 0;
  }
  const std::vector<Skip>& all() const noexcept { return all_; }

 private:
  /// Where the sample is, or would be.
  std::size_t slot_of(std::size_t sample) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t slot = (sample * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (table_[slot] != 0 && all_[table_[slot] - 1].sample != sample) slot = (slot + 1) & mask;
    return slot;
  }

  void grow() {
    table_.assign(table_.empty() ? 16 : 2 * table_.size(), 0);
    for (std::size_t i = 0; i < all_.size(); ++i) table_[slot_of(all_[i].sample)] = i + 1;
  }

  std::vector<Skip> all_;
  std::vector<std::size_t> table_;  ///< places in `all_` from 1 on, or 0; a power of two of them
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

  /// Adds those of another loader, before there are any here.
  void take_over(const Skips& other) {
    const std::vector<Skip> skips = other.distinct();
    const MutexLock lock(mutex_);
    for (const Skip& skip : skips) distinct_.add(skip);
    total_.fetch_add(other.total(), std::memory_order_relaxed);
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
