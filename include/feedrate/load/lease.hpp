// SPDX-License-Identifier: Apache-2.0
// A lease: the consumer's hold on a slot. The batch is valid until the lease ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "feedrate/load/batch_copy.hpp"
#include "feedrate/load/engine.hpp"

namespace feedrate::inline v0 {

/// A batch together with the hold on its memory; move-only. Ends on destruction or `release`.
/// It may end on any thread, and may outlive its loader.
class Lease : public Batch {
 public:
  Lease(std::shared_ptr<Engine> engine, std::uint64_t number, const TakenBatch& taken) noexcept
      : Batch(taken.batch), engine_(std::move(engine)), number_(number), place_(taken.place) {}
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&& other) noexcept {
    release();
    Batch::operator=(other);
    engine_ = std::move(other.engine_);
    number_ = other.number_;
    place_ = other.place_;
    return *this;
  }
  ~Lease() { release(); }

  /// Ends the lease early; the batch must not be used any more.
  void release() noexcept {
    if (engine_) std::exchange(engine_, nullptr)->give_back(place_);
  }

  /// The batch in memory of its own, to be kept while the loader goes on in this one's.
  BatchCopy copy() const { return BatchCopy(*this); }

  /// The batch's number, counted across epochs; `start_batch` resumes at it.
  std::uint64_t number() const noexcept { return number_; }

 private:
  std::shared_ptr<Engine> engine_;
  std::uint64_t number_;
  std::size_t place_;  ///< of the slot
};

}  // namespace feedrate::inline v0
