// SPDX-License-Identifier: Apache-2.0
// The engine of a loader of streams: whose turn it is, and what is ready.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/event_count.hpp"
#include "feedrate/load/lease.hpp"
#include "feedrate/load/ring.hpp"
#include "feedrate/load/sample_error.hpp"
#include "feedrate/load/skips.hpp"
#include "feedrate/load/slab.hpp"
#include "feedrate/load/stream/options.hpp"
#include "feedrate/load/stream/shard_state.hpp"
#include "feedrate/load/worker.hpp"

namespace feedrate::inline v0 {

/// Shards take turns, each for one batch; one that has ended is left out. So what a batch holds
/// depends on the stream alone, never on who reads it. One thread consumes; any number fill.
class StreamEngine final : public SlotOwner {
 public:
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  StreamEngine(std::unique_ptr<const detail::AnyStream> stream, const StreamOptions& options)
      : stream_(std::move(stream)), options_(checked(options)) {
    const Layout layout = checked(stream_->layout());
    const auto world = static_cast<std::size_t>(options_.shard.world);
    for (auto s = static_cast<std::size_t>(options_.shard.rank); s < stream_->shards();
         s += world) {
      shards_.push_back(std::make_unique<detail::ShardState>(*stream_, s, layout));
    }
    if (shards_.empty()) {
      throw Error(Fault::usage, "The stream has " + std::to_string(stream_->shards()) +
                                    " shards: too few for " + std::to_string(world) + " ranks.");
    }
    const BatchLayout in_slot(layout, static_cast<std::size_t>(options_.batch));
    const auto slots = static_cast<std::size_t>(options_.slots());
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(in_slot.bytes(), slots, &bytes)) refuse_slab(SIZE_MAX);
    slab_ = make_slab(bytes, kind_for(bytes), std::nullopt);
    ring_ = std::make_unique<Ring>(in_slot, slots, slab_.data(), options_.trim);
    epochs_.resize(slots);
    for (std::size_t s = 0; s < slots; ++s) ring_->assign(assigned_++, s, 1);
  }

  /// Draws the next turn and fills its batch; false when there is no slot, or no turn to come. A
  /// worker that waits for the shard of its turn is at work, as it could fill no other batch.
  bool fill_one(Worker& self) {
    const double asked_s = SteadyClock{}.now_s();
    const std::optional<Turn> turn = draw();
    Worker::add(turn ? self.fill_s : self.idle_s, SteadyClock{}.now_s() - asked_s);
    if (!turn) return false;
    const std::size_t count = self.timed([&] { return fill(*turn); });
    turn->shard->mutex().unlock();
    ring_->finish_run(turn->number, count);
    consumer_.wake_all();
    return true;
  }

  bool has_turns() const noexcept {
    return next_.load(std::memory_order_seq_cst) < assigned_.load(std::memory_order_seq_cst) &&
           end_.load(std::memory_order_seq_cst) == none && !stopped_.load();
  }

  /// No more turns, and those that are filled end with their sample. Nobody consumes any more.
  void stop() noexcept { stopped_.store(true); }

  /// Whether the head batch may be taken, or there is none to come.
  bool is_decided() noexcept { return ring_->is_published(head_) || is_over(); }
  bool is_over() const noexcept { return head_ >= end_.load(std::memory_order_seq_cst); }

  /// Takes the head batch, which must be ready. It may be empty.
  TakenBatch take_head() noexcept {
    const std::size_t place = ring_->place_of(head_);
    Slot& slot = ring_->slot_of(head_);
    const std::uint64_t epoch = epochs_[head_++ % epochs_.size()];
    if (epoch != head_epoch_) head_index_ = 0;
    head_epoch_ = epoch;
    const Batch batch(ring_->layout(), slot.data, slot.count, epoch, head_index_, false,
                      slot.rows_of());
    if (slot.count > 0 && !slot.error) ++head_index_;
    return {batch, place, slot.error};
  }
  std::uint64_t head() const noexcept { return head_; }  ///< its number, across epochs

  void give_back(std::size_t place) override {
    const MutexLock lock(release_mutex_);
    ring_->assign(assigned_.load(std::memory_order_relaxed), place, 1);
    assigned_.fetch_add(1, std::memory_order_seq_cst);
    idle_.wake(1);
  }

  /// Slots that the consumer holds.
  std::uint64_t leases() const noexcept { return head_ + ring_->slots() - assigned_.load(); }

  const StreamOptions& options() const noexcept { return options_; }
  const BatchLayout& layout() const noexcept { return ring_->layout(); }
  std::size_t slots() const noexcept { return ring_->slots(); }
  std::size_t shards() const noexcept { return shards_.size(); }  ///< of this rank
  const Skips& skips() const noexcept { return skips_; }
  std::int64_t empty_epoch() const noexcept { return empty_epoch_.load(); }  ///< it ended; or -1

  /// Where shards are being read, for a message.
  std::string who_reads() const {
    std::string who;
    for (const auto& shard : shards_) {
      const std::uint64_t reading = shard->reading();
      if (reading == 0) continue;
      who += (who.empty() ? "" : ", ") + stream_->name(shard->index()) + " is at its sample " +
             std::to_string(reading - 1);
    }
    return who.empty() ? "no shard is being read" : who;
  }

  EventCount& idle() noexcept { return idle_; }          ///< workers without a turn
  EventCount& consumer() noexcept { return consumer_; }  ///< the consumer, waiting for workers

 private:
  struct Turn {
    std::uint64_t number, epoch;
    detail::ShardState* shard;  ///< locked
  };

  /// Gives out the next turn. Whether that shard has ended is known once its last turn is over, so
  /// this waits for it.
  std::optional<Turn> draw() {
    const MutexLock lock(draw_mutex_);
    const std::uint64_t number = next_.load(std::memory_order_relaxed);
    if (!has_turns()) return std::nullopt;
    for (std::size_t ended = 0;;) {
      detail::ShardState& shard = *shards_[place_++ % shards_.size()];
      shard.mutex().lock();
      if (!shard.ended()) {
        epochs_[number % epochs_.size()] = epoch_;
        next_.store(number + 1, std::memory_order_seq_cst);
        return Turn{number, epoch_, &shard};
      }
      shard.mutex().unlock();
      if (++ended < shards_.size()) continue;
      if (!begin_epoch()) return std::nullopt;
      ended = 0;
    }
  }

  /// All shards have ended: the next epoch, if there is one.
  bool begin_epoch() {
    ++epoch_;
    const bool is_empty = !given_.exchange(false, std::memory_order_relaxed);
    if (is_empty) empty_epoch_.store(static_cast<std::int64_t>(epoch_) - 1);
    if (is_empty || (options_.epochs > 0 && epoch_ >= options_.epochs)) {
      end_.store(next_.load(std::memory_order_relaxed), std::memory_order_seq_cst);
      consumer_.wake_all();
      return false;
    }
    for (const auto& shard : shards_) shard->rewind();
    place_ = 0;
    return true;
  }

  /// Fills the batch of a turn; returns its number of samples.
  std::size_t fill(const Turn& turn) noexcept {
    Slot& slot = ring_->slot_of(turn.number);
    const auto batch = static_cast<std::size_t>(options_.batch);
    std::size_t count = 0, longest = 0;
    bool has_failed = false;
    try {
      turn.shard->open(turn.epoch);
      while (count < batch && !stopped_.load()) {
        if (!load(turn, slot.data, count)) break;
        longest = std::max(longest, turn.shard->finish_sample(layout()));
        if (count > 0 && options_.max_total > 0 && (count + 1) * longest > options_.max_total) {
          turn.shard->keep(layout(), slot.data, count);
          break;
        }
        ++count;
      }
    } catch (...) {
      has_failed = true;
      slot.fail(count, std::current_exception());
      given_.store(true, std::memory_order_relaxed);       // what failed may work in the next epoch
      if (turn.shard->position() == 0) turn.shard->end();  // open() threw
    }
    turn.shard->pause();
    const bool is_whole = count == batch || has_failed;
    if (options_.drop_last && turn.shard->ended() && !is_whole) count = 0;
    if (count > 0) given_.store(true, std::memory_order_relaxed);
    return count;
  }

  /// The next sample that can be loaded; false at the end of the shard. Throws SampleError. What
  /// one that is skipped has said of its length is forgotten.
  bool load(const Turn& turn, std::byte* slot, std::size_t place) {
    while (true) {
      const Sample sample = turn.shard->sample_at(layout(), slot, {turn.epoch, 0, place});
      try {
        return turn.shard->next(sample, options_.seed, turn.epoch);
      } catch (...) {
        handle(*turn.shard, std::current_exception());
      }
    }
  }

  void handle(const detail::ShardState& shard, const std::exception_ptr& cause) {
    const detail::FailedSample failed =
        detail::failed_sample(shard, stream_->name(shard.index()), cause);
    if (skips_.admit(failed.skip, options_.max_skips)) return;
    throw SampleError(
        sentence_of_failure(failed.sample, failed.name, failed.skip.reason, options_.max_skips),
        failed.sample, failed.cause);
  }

  std::unique_ptr<const detail::AnyStream> stream_;
  StreamOptions options_;
  Slab slab_;
  std::unique_ptr<Ring> ring_;
  std::vector<std::unique_ptr<detail::ShardState>> shards_;
  Skips skips_;
  std::vector<std::uint64_t> epochs_;  ///< of the turns in slots, by number
  std::atomic<bool> given_{false};     ///< this epoch had a batch
  std::atomic<std::int64_t> empty_epoch_{-1};
  std::atomic<bool> stopped_{false};

  Mutex draw_mutex_;
  std::size_t place_ = 0;    ///< in the turns of the epoch
  std::uint64_t epoch_ = 0;  ///< of the turn that is drawn next
  alignas(64) std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> end_{none};  ///< turns in all, once that is known
  alignas(64) EventCount idle_;
  alignas(64) EventCount consumer_;
  alignas(64) std::uint64_t head_ = 0;  ///< the consumer's, as are epoch and index of its batch
  std::uint64_t head_epoch_ = 0;
  std::size_t head_index_ = 0;
  Mutex release_mutex_;
  std::atomic<std::uint64_t> assigned_{0};  ///< turns below have, or had, a slot
};

}  // namespace feedrate::inline v0
