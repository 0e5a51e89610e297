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
  std::size_t sample;
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
    if (!is_known(skip.sample)) {
      if (distinct_.size() >= allowed) return false;
      if (known_.size() <= skip.sample) known_.resize(skip.sample + 1);
      known_[skip.sample] = true;
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
  bool is_known(std::size_t sample) const { return sample < known_.size() && known_[sample]; }

  mutable Mutex mutex_;
  std::vector<bool> known_;  ///< by sample: whether it is in distinct_
  std::vector<Skip> distinct_;
  std::atomic<std::uint64_t> total_{0};
};

}  // namespace feedrate::inline v0
