// SPDX-License-Identifier: Apache-2.0
// The ring: the slots of a loader, each filled in runs, published by its last writer, leased in
// the order of their batches, and free again in any order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <vector>

#include "feedrate/core/thread.hpp"
#include "feedrate/load/batch.hpp"
#include "feedrate/load/slab.hpp"

namespace feedrate::inline v0 {

/// One preallocated batch and the state of its filling, on cache lines of its own.
struct alignas(64) Slot {
  std::byte* data = nullptr;
  std::atomic<std::uint32_t> open_runs{0};  ///< runs that are not finished yet
  std::atomic<std::uint64_t> published{0};  ///< batch number + 1 once it may be leased
  std::atomic<std::uint32_t> holes{0};      ///< samples that were skipped
  std::vector<std::uint8_t> is_hole;        ///< by position
  std::size_t count = 0;                    ///< valid samples; set on publication
  std::vector<std::uint32_t> rows;          ///< of trimmed fields; empty where nothing is trimmed

  Mutex error_mutex;
  std::exception_ptr error;  ///< of the lowest position that failed
  std::size_t error_position = 0;

  /// Keeps the error of the lowest position, so that the same one surfaces whoever was first.
  void fail(std::size_t position, std::exception_ptr what) {
    const MutexLock lock(error_mutex);
    if (error && error_position <= position) return;
    error = std::move(what);
    error_position = position;
  }

  const std::uint32_t* rows_of() const noexcept { return rows.empty() ? nullptr : rows.data(); }

  void skip(std::size_t position) noexcept {
    is_hole[position] = 1;
    holes.fetch_add(1, std::memory_order_relaxed);
  }
};

/// The head batch, as it is handed out.
struct TakenBatch {
  Batch batch;
  std::size_t place;         ///< of its slot
  std::exception_ptr error;  ///< of a sample that could not be loaded
};

/// The slots, carved from the front of a slab, and which of them each batch to come has.
class Ring {
 public:
  Ring(BatchLayout layout, std::size_t slots, std::byte* memory, bool trims)
      : layout_(std::move(layout)), slots_(slots), places_(slots) {
    for (std::size_t s = 0; s < slots; ++s) {
      slots_[s].data = memory + s * layout_.bytes();
      slots_[s].is_hole.assign(layout_.batch(), 0);
      if (trims) slots_[s].rows.assign(layout_.fields().size(), 0);
    }
  }

  std::size_t slots() const noexcept { return slots_.size(); }
  const BatchLayout& layout() const noexcept { return layout_; }

  /// The place of the slot that `batch` has, from `assign` until the batch is leased.
  std::size_t place_of(std::uint64_t batch) const noexcept {
    return places_[batch % places_.size()].load(std::memory_order_acquire);
  }
  Slot& slot_of(std::uint64_t batch) noexcept { return slots_[place_of(batch)]; }

  /// Gives the slot at `place`, which is free, to `batch`, to be filled in `runs` runs. Batches get
  /// theirs one behind the other, so those to come are never more than there are slots.
  void assign(std::uint64_t batch, std::size_t place, std::uint32_t runs) noexcept {
    Slot& slot = slots_[place];
    slot.open_runs.store(runs, std::memory_order_relaxed);
    slot.error = nullptr;
    if (slot.holes.exchange(0, std::memory_order_relaxed) > 0) {
      std::fill(slot.is_hole.begin(), slot.is_hole.end(), std::uint8_t{0});
    }
    places_[batch % places_.size()].store(place, std::memory_order_release);
  }

  /// One run of `batch` is written. The last writer closes the holes and publishes the slot;
  /// returns whether this was the last.
  bool finish_run(std::uint64_t batch, std::size_t count) noexcept {
    Slot& slot = slot_of(batch);
    if (slot.open_runs.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    close_holes(slot, count);
    mark_tail(slot);
    // Of a batch that failed some lengths may never have been written.
    if (!slot.rows.empty() && !slot.error) layout_.trim(slot.data, slot.count, slot.rows);
    slot.published.store(batch + 1, std::memory_order_seq_cst);
    return true;
  }

  bool is_published(std::uint64_t batch) noexcept {
    return slot_of(batch).published.load(std::memory_order_seq_cst) == batch + 1;
  }

  /// How many batches from `batch` on are published, one behind the other.
  int published_from(std::uint64_t batch) noexcept {
    std::uint64_t end = batch;
    while (end < batch + slots() && is_published(end)) ++end;
    return static_cast<int>(end - batch);
  }

 private:
  /// Moves the samples behind each hole up, in order, and sets the true count.
  void close_holes(Slot& slot, std::size_t count) noexcept {
    slot.count = count;
    if (slot.holes.load(std::memory_order_relaxed) == 0) return;
    std::size_t to = 0;
    for (std::size_t from = 0; from < count; ++from) {
      if (slot.is_hole[from]) continue;
      if (to != from) move_sample(slot, from, to);
      ++to;
    }
    slot.count = to;
  }

  void move_sample(Slot& slot, std::size_t from, std::size_t to) noexcept {
    for (std::size_t f = 0; f < layout_.fields().size(); ++f) {
      std::memcpy(layout_.place(slot.data, f, to), layout_.place(slot.data, f, from),
                  layout_.fields()[f].bytes());
      if (auto* length = layout_.length(slot.data, f, to)) {
        *length = *layout_.length(slot.data, f, from);
      }
    }
  }

  /// Labels without a sample become -1, which the loss ignores: a step of fixed size stays right.
  void mark_tail(Slot& slot) noexcept {
    for (std::size_t f = 0; f < layout_.fields().size(); ++f) {
      const Field& field = layout_.fields()[f];
      if (field.name != "label" || !is_signed_integer(field.dtype)) continue;
      constexpr int all_bits = 0xff;  // -1 of any size
      std::memset(layout_.place(slot.data, f, slot.count), all_bits,
                  (layout_.batch() - slot.count) * field.bytes());
    }
  }

  BatchLayout layout_;
  std::vector<Slot> slots_;  // never resized: slots hold atomics and do not move
  std::vector<std::atomic<std::size_t>> places_;  ///< of the batches to come, by number
};

}  // namespace feedrate::inline v0
