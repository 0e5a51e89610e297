// SPDX-License-Identifier: Apache-2.0
// The engine: ring, tickets and filling, shared by the loader, its workers and its leases.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/event_count.hpp"
#include "feedrate/core/thread.hpp"
#include "feedrate/load/counters.hpp"
#include "feedrate/load/lease.hpp"
#include "feedrate/load/options.hpp"
#include "feedrate/load/ring.hpp"
#include "feedrate/load/sample_error.hpp"
#include "feedrate/load/skips.hpp"
#include "feedrate/load/source.hpp"
#include "feedrate/load/tickets.hpp"
#include "feedrate/load/worker.hpp"

namespace feedrate::inline v0 {

/// Fills slots and hands them out in order. One thread consumes; any number fill.
class Engine final : public SlotOwner {
 public:
  Engine(std::shared_ptr<const Source> source, const LoaderOptions& options, Slab slab)
      : source_(std::move(source)), slab_(std::move(slab)) {
    configure(options);
  }

  /// Draws one ticket below `cap` and executes it; false when there is none.
  bool fill_one_run(Worker& self, std::uint64_t cap = Tickets::no_cap) {
    self.busy.store(true, std::memory_order_seq_cst);
    const auto ticket = tickets_.draw(cap);
    if (ticket) execute(plan_->run_of(*ticket), self);
    self.busy.store(false, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst)) consumer_.wake_all();
    return ticket.has_value();
  }

  bool has_tickets() const noexcept { return tickets_.available(); }
  bool more() const noexcept { return head_ < end_; }  ///< there are batches to come

  /// Fills the head batch as far as nobody else has begun to.
  void fill_head(Worker& self) {
    while (fill_one_run(self, (head_ + 1) * plan_->runs_per_batch())) {
    }
  }

  bool head_is_ready() noexcept { return ring_->is_published(head_); }
  /// Waits up to `timeout_s` for the head batch. First it spins: to sleep costs more than a batch.
  bool wait_for_head(double timeout_s) {
    if (spin_wait([this] { return head_is_ready(); })) return true;
    return consumer_.wait([this] { return head_is_ready(); }, timeout_s);
  }

  /// Takes the head batch, which must be ready. The slot is the consumer's until `give_back`.
  TakenBatch take_head() noexcept {
    const std::size_t place = ring_->place_of(head_);
    Slot& slot = ring_->slot_of(head_);
    const Run run = plan_->run_of(head_ * plan_->runs_per_batch());
    const bool last = run.index + 1 == order_->batches_per_epoch();
    ++head_;
    return {
        Batch(ring_->layout(), slot.data, slot.count, run.epoch, run.index, last, slot.rows_of()),
        place, slot.error};
  }

  std::uint64_t head() const noexcept { return head_; }  ///< its number, across epochs

  /// The slot goes to the next batch that has none.
  void give_back(std::size_t place) override {
    const MutexLock lock(release_mutex_);
    ring_->assign(assigned_++, place, runs_per_batch());
    if (closed_.load(std::memory_order_relaxed)) return;
    allow();
    idle_.wake(runs_per_batch());
  }

  /// Stops giving out tickets and waits until no worker holds one; false after `timeout_s`.
  bool close(const std::vector<std::unique_ptr<Worker>>& workers, double timeout_s) {
    closed_.store(true, std::memory_order_seq_cst);
    tickets_.close();
    const auto is_quiet = [](const auto& worker) {
      return !worker->busy.load(std::memory_order_seq_cst);
    };
    return consumer_.wait([&] { return std::all_of(workers.begin(), workers.end(), is_quiet); },
                          timeout_s);
  }

  /// Ends all loading: a run stops behind its present sample, and its batch stays unfinished.
  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }

  /// Gives out tickets again.
  void open() {
    const MutexLock lock(release_mutex_);
    closed_.store(false, std::memory_order_seq_cst);
    allow();
    idle_.wake_all();
  }

  /// So many epochs follow the last one. For the consumer.
  void add_epochs(std::uint64_t epochs) {
    const MutexLock lock(release_mutex_);
    options_.epochs += epochs;
    end_ = order_->end_of(options_.epochs, runs_per_batch());
    allow();
    idle_.wake_all();
  }

  /// Slots that the consumer holds.
  std::uint64_t leases() {
    const MutexLock lock(release_mutex_);
    return head_ + ring_->slots() - assigned_;
  }
  std::size_t slots() const noexcept { return ring_->slots(); }

  /// Lays all out again, while closed and without leases. Throws before it has changed anything.
  void configure(const LoaderOptions& options) {
    const std::size_t samples = source_->size();
    if (samples == 0) throw Error(Fault::data, "The dataset is empty: there is nothing to load.");
    Order order(samples, static_cast<std::size_t>(checked(options).batch), options.order,
                options.start);
    BatchLayout layout(checked(source_->layout()), order.batch());
    const auto slots = static_cast<std::size_t>(options.slots());
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(layout.bytes(), slots, &bytes)) refuse_slab(SIZE_MAX);
    const auto soon = options.lazy_memory ? std::optional(layout.bytes()) : std::nullopt;
    Slab larger = slab_.bytes() < bytes ? make_larger_slab(slab_, bytes, soon) : Slab();
    std::byte* const memory = larger.data() ? larger.data() : slab_.data();
    ring_ = std::make_unique<Ring>(layout, slots, memory, options.trim);
    if (larger.data()) slab_ = std::move(larger);
    order_ = std::make_unique<const Order>(order);
    plan_.emplace(*order_, options.run_length, options.planned_workers(), layout.sample_bytes());
    options_ = options;
    restart();
  }

  const LoaderOptions& options() const noexcept { return options_; }
  const Order& order() const noexcept { return *order_; }
  const Source& source() const noexcept { return *source_; }
  const Slab& slab() const noexcept { return slab_; }
  const BatchLayout& layout() const noexcept { return ring_->layout(); }

  int ready() noexcept { return ring_->published_from(head_); }  ///< batches, to lease at once
  Skips& skips() noexcept { return skips_; }

  EventCount& idle() noexcept { return idle_; }          ///< workers without a ticket
  EventCount& consumer() noexcept { return consumer_; }  ///< the consumer, waiting for workers

 private:
  std::uint32_t runs_per_batch() const noexcept {
    return static_cast<std::uint32_t>(plan_->runs_per_batch());
  }

  void allow() noexcept { tickets_.allow(std::min(assigned_, end_) * runs_per_batch()); }

  void restart() {
    end_ = order_->end_of(options_.epochs, runs_per_batch());
    head_ = assigned_ = order_->first();
    for (std::size_t s = 0; s < ring_->slots(); ++s) {
      ring_->assign(assigned_++, s, runs_per_batch());
    }
    tickets_.restart(head_ * runs_per_batch());
  }

  void execute(const Run& run, Worker& self) {
    const double start_s = SteadyClock{}.now_s();
    self.places.resize(ring_->layout().fields().size());
    self.lengths.resize(self.places.size());
    try {
      order_->for_each(run.epoch, run.index, run.begin, run.end,
                       [&](std::size_t p, std::size_t i) { load_one(run, p, i, self); });
    } catch (...) {  // of a sampler
      ring_->slot_of(run.batch).fail(run.begin, std::current_exception());
    }
    Worker::add(self.fill_s, SteadyClock{}.now_s() - start_s);
    if (stopped_.load(std::memory_order_relaxed)) return;
    if (ring_->finish_run(run.batch, order_->count(run.epoch, run.index))) consumer_.wake_all();
  }

  void load_one(const Run& run, std::size_t position, std::size_t i, Worker& self) {
    if (stopped_.load(std::memory_order_relaxed)) return;
    self.loading.store(i + 1, std::memory_order_relaxed);
    try {
      Random random = order_->random(run.epoch, run.index, position, i);
      if (i >= source_->size()) throw no_such_sample(source_->size());
      source_->load(i, sample_at(run, position, self), random);
      detail::clear_tails(ring_->layout().fields(), self.places, self.lengths);
    } catch (...) {
      handle(run, position, i, std::current_exception());
    }
    self.loading.store(0, std::memory_order_relaxed);
    Worker::add(self.filled, std::uint64_t{1});
  }

  Sample sample_at(const Run& run, std::size_t position, Worker& self) {
    const BatchLayout& layout = ring_->layout();
    std::byte* slot = ring_->slot_of(run.batch).data;
    for (std::size_t f = 0; f < layout.fields().size(); ++f) {
      self.places[f] = layout.place(slot, f, position);
      self.lengths[f] = layout.length(slot, f, position);
      if (self.lengths[f])
        *self.lengths[f] = static_cast<std::int32_t>(layout.fields()[f].shape[0]);
    }
    return {layout.fields(), self.places, self.lengths, {run.epoch, run.index, position}};
  }

  /// A sample that can't be loaded is skipped while that is allowed, else it fails its batch.
  void handle(const Run& run, std::size_t position, std::size_t i,
              std::exception_ptr cause) noexcept try {
    Slot& slot = ring_->slot_of(run.batch);
    const std::string name = i < source_->size() ? source_->name(i) : std::string();
    const std::string reason = reason_of(cause);
    if (skips_.admit({i, name, reason}, options_.max_skips)) return slot.skip(position);
    const SampleError error(sentence_of_failure(i, name, reason, options_.max_skips), i, cause);
    slot.fail(position, std::make_exception_ptr(error));
  } catch (...) {  // no memory for words, or a dataset that can't even name its sample
    ring_->slot_of(run.batch).fail(position, std::current_exception());
  }

  std::shared_ptr<const Source> source_;
  LoaderOptions options_;
  Slab slab_;
  std::unique_ptr<const Order> order_;
  std::optional<RunPlan> plan_;
  std::unique_ptr<Ring> ring_;
  Skips skips_;

  // Each on a cache line of its own: different threads write them for every batch.
  Tickets tickets_;
  alignas(64) std::atomic<bool> closed_{true}, stopped_{false};
  alignas(64) EventCount idle_;
  alignas(64) EventCount consumer_;

  alignas(64) std::uint64_t head_ = 0;  ///< the next batch to lease; the consumer's
  std::uint64_t end_ = 0;               ///< the batch behind the last one
  alignas(64) Mutex release_mutex_;
  std::uint64_t assigned_ = 0;  ///< batches below have, or had, a slot
};

}  // namespace feedrate::inline v0
