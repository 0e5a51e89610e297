// SPDX-License-Identifier: Apache-2.0
// A lease: the consumer's hold on a slot. The batch is valid until the lease ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "feedrate/load/batch_copy.hpp"

namespace feedrate::inline v0 {

/// Who has the memory of batches, and gets it back.
class SlotOwner {
 public:
  /// Ends the hold on the slot at `place`. May be called from any thread and in any order.
  virtual void give_back(std::size_t place) = 0;

 protected:
  ~SlotOwner() = default;
};

/// A batch together with the hold on its memory; move-only. Ends on destruction or `release`.
/// It may end on any thread, and may outlive its loader.
class Lease : public Batch {
 public:
  Lease(std::shared_ptr<SlotOwner> owner, const Batch& batch, std::uint64_t number,
        std::size_t place) noexcept
      : Batch(batch), owner_(std::move(owner)), number_(number), place_(place) {}
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&& other) noexcept {
    release();
    Batch::operator=(other);
    owner_ = std::move(other.owner_);
    number_ = other.number_;
    place_ = other.place_;
    return *this;
  }
  ~Lease() { release(); }

  /// Ends the lease early; the batch must not be used any more.
  void release() noexcept {
    if (owner_) std::exchange(owner_, nullptr)->give_back(place_);
  }

  /// The batch in memory of its own, to be kept while the loader goes on in this one's.
  BatchCopy copy() const { return BatchCopy(*this); }

  /// The batch's number, counted across epochs.
  std::uint64_t number() const noexcept { return number_; }

 private:
  std::shared_ptr<SlotOwner> owner_;
  std::uint64_t number_;
  std::size_t place_;  ///< of the slot
};

}  // namespace feedrate::inline v0
