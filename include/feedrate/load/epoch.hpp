// SPDX-License-Identifier: Apache-2.0
// An epoch as a range: what a loop runs over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "feedrate/load/lease.hpp"

namespace feedrate::inline v0 {

/// An input_range over the leases up to the end of an epoch of a loader of type `L`; each ends when
/// the loop goes on to the next batch, unless it was moved from. After a loop that was left early,
/// the next one continues in the same epoch, or, if the last batch of the epoch failed, begins the
/// next epoch. The loader must not be moved during a loop.
template <class L>
class EpochOf {
 public:
  class Iterator {
   public:
    using value_type = Lease;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(L* loader) : loader_(loader), lease_(loader->next()) {
      if (lease_) epoch_ = lease_->epoch();
    }

    Lease& operator*() const noexcept { return *lease_; }
    Iterator& operator++() {
      const bool last = lease_->last();
      lease_.reset();
      if (!last) advance();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return !lease_; }

   private:
    /// A last batch of which every sample was skipped never comes: the next epoch's first does.
    void advance() {
      lease_ = loader_->next();
      if (!lease_ || lease_->epoch() == epoch_) return;
      loader_->put_back(std::move(*lease_));
      lease_.reset();
    }

    L* loader_;
    mutable std::optional<Lease> lease_;  ///< what a loop may move from
    std::uint64_t epoch_ = 0;
  };

  explicit EpochOf(L* loader) : loader_(loader) {}
  /// Takes the next batch; so does each step. They throw as the loader's next() does.
  Iterator begin() const { return Iterator(loader_); }
  /// Behind the last batch.
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  L* loader_;
};

}  // namespace feedrate::inline v0
