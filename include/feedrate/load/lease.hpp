// SPDX-License-Identifier: Apache-2.0
// A lease: the consumer's hold on a slot. The batch is valid until the lease ends.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "feedrate/load/engine.hpp"

namespace feedrate::inline v0 {

/// A batch together with the hold on its memory; move-only. Ends on destruction or `release`.
/// It may end on any thread, and may outlive its loader.
class Lease : public Batch {
 public:
  Lease(std::shared_ptr<Engine> engine, std::uint64_t number, const Batch& batch) noexcept
      : Batch(batch), engine_(std::move(engine)), number_(number) {}
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&& other) noexcept {
    release();
    Batch::operator=(other);
    engine_ = std::move(other.engine_);
    number_ = other.number_;
    return *this;
  }
  ~Lease() { release(); }

  /// Ends the lease early; the batch must not be used any more.
  void release() noexcept {
    if (engine_) std::exchange(engine_, nullptr)->give_back(number_);
  }

  /// The batch's number, counted across epochs; `start_batch` resumes at it.
  std::uint64_t number() const noexcept { return number_; }

 private:
  std::shared_ptr<Engine> engine_;
  std::uint64_t number_;
};

}  // namespace feedrate::inline v0
