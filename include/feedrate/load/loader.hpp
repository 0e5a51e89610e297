// SPDX-License-Identifier: Apache-2.0
// The loader: batches of a dataset, filled ahead by threads, delivered in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/load/health.hpp"
#include "feedrate/load/lease.hpp"
#include "feedrate/load/loader_errors.hpp"
#include "feedrate/load/worker_pool.hpp"

namespace feedrate::inline v0 {

/// Loads batches. One thread consumes.
///
///     feedrate::Loader loader(dataset, {.batch = 64, .workers = 4});
///     for (const auto& batch : loader.epoch()) train(batch.get<float>("input"), ...);
///
/// The bytes and their order depend on the seed, the epoch and the dataset alone, never on the
/// number of workers. Epochs follow each other without draining. In steady state nothing is
/// allocated.
class Loader {
 public:
  /// `dataset` is a Dataset by value, or a shared_ptr to one. `slab`, where given, is the memory
  /// to use, such as pinned memory; it is replaced by plain pages when it is too small.
  /// Throws Error(usage) on invalid options, Error(data) on an empty dataset.
  template <class D>
  explicit Loader(D dataset, const LoaderOptions& options = {}, Slab slab = {})
      : Loader(make_source(std::move(dataset)), options, std::move(slab)) {}

  explicit Loader(std::shared_ptr<const Source> source, const LoaderOptions& options = {},
                  Slab slab = {})
      : engine_(std::make_shared<Engine>(std::move(source), options, std::move(slab))),
        pool_(engine_) {
    engine_->open();
    pool_.resize(options.workers);
  }

  /// The next batch, in order; empty behind the last epoch.
  ///
  /// Throws SampleError, naming the sample, when one of the batch could not be loaded: that batch
  /// is lost, the next call goes on with the next one. Throws Error(data), naming the worker and
  /// its sample, when no sample was finished for `stall_s`: nothing is lost, call again to wait on.
  /// Throws Error(usage) in a process that came out of fork() since the loader was made.
  std::optional<Lease> next() {
    if (pending_) return std::exchange(pending_, std::nullopt);
    for (std::size_t empty = 0; engine_->more(); ++empty) {
      if (empty == batches_per_epoch())
        throw detail::all_skipped(engine_->skips().distinct().front());
      make_head_ready();
      Lease lease = take_head();
      if (lease.count() > 0) return lease;
    }
    return std::nullopt;
  }

  /// Waits up to `timeout_s` for the next batch; true when next() would return or throw at once.
  /// For a consumer that has other things to look at. Throws as next() does when no sample was
  /// finished for `stall_s`.
  bool wait(double timeout_s) {
    if (pending_ || !engine_->more() || pool_.size() == 0 || pool_.left_behind()) return true;
    if (engine_->head_is_ready() || engine_->leases() == engine_->slots()) return true;
    return await_head(timeout_s);
  }

  /// The batches up to the end of the current epoch, as a range.
  class Epoch;
  Epoch epoch();

  /// After the last epoch, `epochs` more, without draining. Not for an endless loader.
  void add_epochs(std::uint64_t epochs) { engine_->add_epochs(epochs); }

  /// Changes the number of workers at once; never waits. Batches are shared out as they were for
  /// the number of workers at construction or reconfigure().
  void resize(int workers) {
    LoaderOptions options = engine_->options();
    options.workers = workers;
    checked(options);
    pool_.resize(workers);
  }

  /// Changes anything else, starting again at `start_batch`. Error(usage) while a batch is leased.
  void reconfigure(const LoaderOptions& options) {
    checked(options);
    pending_.reset();
    if (pool_.left_behind()) throw detail::forked();
    if (engine_->leases() > 0) throw detail::leased();
    if (!engine_->close(pool_.workers(), options.stall_s)) {
      engine_->open();
      throw stalled();
    }
    const int workers = pool_.size();
    try {
      pool_.resize(0);
      engine_->configure(options);
    } catch (...) {
      engine_->open();
      pool_.resize(workers);
      throw;
    }
    engine_->open();
    pool_.resize(options.workers);
  }

  int workers() const noexcept { return pool_.size(); }
  std::size_t samples_per_epoch() const noexcept { return engine_->order().samples_per_epoch(); }
  std::size_t batches_per_epoch() const noexcept { return engine_->order().batches_per_epoch(); }
  const BatchLayout& layout() const noexcept { return engine_->layout(); }
  const Slab& slab() const noexcept { return engine_->slab(); }

  /// Batches that next() would return at once.
  int ready() const noexcept { return engine_->ready(); }
  /// The samples that were left out, each once.
  std::vector<Skip> skips() const { return engine_->skips().distinct(); }

  LoaderCounters counters() const {
    LoaderCounters counters = consumed_;
    counters.skipped = engine_->skips().total();
    counters.filled = caller_.filled.load(std::memory_order_relaxed);
    counters.caller_fill_s = caller_.fill_s.load(std::memory_order_relaxed);
    for (const auto& worker : pool_.workers()) worker->add_to(counters);
    return counters;
  }

  /// How well the consumer was fed since the last call, or since the loader was made, and how much
  /// faster the workers could load. For the thread that consumes.
  Health health() {
    return meter_.read(SteadyClock{}.now_s(), counters(), pool_.workers(), pool_.size());
  }

  /// Threads of any loader that had to be left behind, stuck in a dataset's code.
  static int abandoned() noexcept { return WorkerPool::abandoned().load(); }

 private:
  void make_head_ready() {
    if (engine_->head_is_ready()) return;
    if (engine_->leases() == engine_->slots()) throw detail::all_leased(engine_->slots());
    if (pool_.left_behind()) throw detail::forked();
    if (pool_.size() == 0) engine_->fill_head(caller_);
    while (!await_head(engine_->options().stall_s / 5)) {
    }
  }

  bool await_head(double timeout_s) {
    const double start_s = SteadyClock{}.now_s();
    const bool ready = engine_->wait_for_head(timeout_s);
    watch_progress(ready, start_s, SteadyClock{}.now_s());
    return ready;
  }

  /// Throws when no sample was finished for `stall_s` of waiting.
  void watch_progress(bool ready, double start_s, double end_s) {
    consumed_.wait_s += end_s - start_s;
    const std::uint64_t filled = counters().filled;
    if (!quiet_since_s_ || filled != seen_filled_) quiet_since_s_ = start_s;
    seen_filled_ = filled;
    if (ready) quiet_since_s_.reset();
    const double stall_s = engine_->options().stall_s;
    if (ready || end_s - *quiet_since_s_ < stall_s) return;
    quiet_since_s_.reset();
    throw stalled();
  }

  Lease take_head() {
    const std::uint64_t number = engine_->head();
    const TakenBatch taken = engine_->take_head();
    Lease lease(engine_, number, taken);
    if (taken.error) {
      consumed_.failed += lease.count();
      lease.release();
      std::rethrow_exception(taken.error);
    }
    ++consumed_.batches;
    consumed_.samples += lease.count();
    consumed_.bytes += lease.count() * engine_->layout().sample_bytes();
    return lease;
  }

  Error stalled() const {
    return detail::stalled(engine_->options().stall_s, pool_.workers(), engine_->source());
  }

  std::shared_ptr<Engine> engine_;
  WorkerPool pool_;
  Worker caller_{-1};
  LoaderCounters consumed_;
  HealthMeter meter_{SteadyClock{}.now_s()};
  std::optional<double> quiet_since_s_;  ///< no sample was finished since then
  std::uint64_t seen_filled_ = 0;
  std::optional<Lease> pending_;  ///< of the next epoch, met while looking for the end of one
};

/// An input_range over leases; each ends when the loop goes on to the next batch, unless it was
/// moved from. After a loop that was left early, the next one continues in the same epoch.
class Loader::Epoch {
 public:
  class Iterator {
   public:
    using value_type = Lease;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(Loader* loader) : loader_(loader), lease_(loader->next()) {
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
      if (lease_ && lease_->epoch() != epoch_) {
        loader_->pending_ = std::exchange(lease_, std::nullopt);
      }
    }

    Loader* loader_;
    mutable std::optional<Lease> lease_;  ///< what a loop may move from
    std::uint64_t epoch_ = 0;
  };

  explicit Epoch(Loader* loader) : loader_(loader) {}
  Iterator begin() const { return Iterator(loader_); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  Loader* loader_;
};

inline Loader::Epoch Loader::epoch() {
  return Epoch(this);
}

}  // namespace feedrate::inline v0
