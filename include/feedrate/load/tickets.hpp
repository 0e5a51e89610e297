// SPDX-License-Identifier: Apache-2.0
// Tickets: the worker for each run of samples of each batch, across all epochs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "feedrate/data/order.hpp"

namespace feedrate::inline v0 {

/// A counter from which workers draw. A ticket is given out only below the limit, so whoever
/// holds one can execute it at once and nobody ever holds one for a slot that is not free.
class Tickets {
 public:
  static constexpr std::uint64_t no_cap = std::numeric_limits<std::uint64_t>::max();

  /// The next ticket below both the limit and `cap`, if there is one.
  std::optional<std::uint64_t> draw(std::uint64_t cap = no_cap) noexcept {
    std::uint64_t ticket = next_.load(std::memory_order_seq_cst);
    while (ticket < std::min(limit_.load(std::memory_order_seq_cst), cap)) {
      if (next_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_seq_cst)) return ticket;
    }
    return std::nullopt;
  }

  bool available() const noexcept {
    return next_.load(std::memory_order_seq_cst) < limit_.load(std::memory_order_seq_cst);
  }

  void allow(std::uint64_t limit) noexcept { limit_.store(limit, std::memory_order_seq_cst); }
  void close() noexcept { allow(0); }
  /// Starts again at `first`; only while closed and nobody draws.
  void restart(std::uint64_t first) noexcept { next_.store(first, std::memory_order_seq_cst); }

 private:
  alignas(64) std::atomic<std::uint64_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> limit_{0};
};

/// What a ticket stands for: positions [begin, end) of batch `index` of `epoch`.
struct Run {
  std::uint64_t batch;  ///< counted across epochs
  std::uint64_t epoch;
  std::size_t index;
  std::size_t begin;
  std::size_t end;
};

/// How batches are cut into runs; a ticket becomes a run by division alone.
class RunPlan {
 public:
  /// Runs of `run_length` samples, or, where it is 0, of as many as suit samples and workers.
  RunPlan(const Order& order, int run_length, int workers, std::size_t sample_bytes)
      : order_(&order),
        length_(run_length > 0 ? std::min(static_cast<std::size_t>(run_length), order.batch())
                               : chosen_length(order.batch(), static_cast<std::size_t>(workers),
                                               sample_bytes)),
        runs_per_batch_((order.batch() + length_ - 1) / length_) {}

  std::uint64_t runs_per_batch() const noexcept { return runs_per_batch_; }

  Run run_of(std::uint64_t ticket) const noexcept {
    const std::uint64_t batch = ticket / runs_per_batch_;
    const std::uint64_t epoch = batch / order_->batches_per_epoch();
    const auto index = static_cast<std::size_t>(batch % order_->batches_per_epoch());
    const std::size_t count = order_->count(epoch, index);
    const std::size_t begin = std::min<std::size_t>(ticket % runs_per_batch_ * length_, count);
    return {batch, epoch, index, begin, std::min(begin + length_, count)};
  }

 private:
  /// Long enough that a ticket is cheap beside its samples (4 KiB of data), short enough that all
  /// workers, and eight at least, can share a batch: where samples wait, each is to wait for one.
  static std::size_t chosen_length(std::size_t batch, std::size_t workers,
                                   std::size_t sample_bytes) noexcept {
    const std::size_t page = 4096 / std::max<std::size_t>(sample_bytes, 1);
    const std::size_t share = batch / std::max<std::size_t>(workers, 8);
    return std::clamp<std::size_t>(page, 1, std::max<std::size_t>(share, 1));
  }

  const Order* order_;
  std::size_t length_;
  std::uint64_t runs_per_batch_;
};

}  // namespace feedrate::inline v0
