// SPDX-License-Identifier: Apache-2.0
// The loader: batches of a dataset, filled ahead by threads, delivered in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/load/automatic.hpp"
#include "feedrate/load/epoch.hpp"
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
/// The bytes and their order depend on the seed, the epoch and the dataset alone. Epochs follow
/// each other without draining. In steady state nothing is allocated. A loader that was moved from
/// may only be destroyed or assigned to.
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
    employ(options);
  }

  /// The next batch, in order; empty behind the last epoch.
  ///
  /// Throws SampleError, naming the sample, when one of the batch could not be loaded: that batch
  /// is lost, the next call goes on with the next one. Throws Error(data), naming the worker and
  /// its sample, when no sample was finished for `stall_s`: nothing is lost, call again to wait on.
  /// Throws Error(usage) in a process that came out of fork() since the loader was made.
  std::optional<Lease> next() {
    if (pending_ && !pool_.left_behind()) return std::exchange(pending_, std::nullopt);
    while (engine_->more()) {
      make_head_ready();
      Lease lease = take_head();
      if (automatic_) adapt();
      if (lease.count() > 0) return lease;
    }
    return std::nullopt;
  }

  /// Waits up to `timeout_s`; true if the next batch is ready, if only with skipped samples, or if
  /// next() would throw. Throws as next() does if no sample was finished for `stall_s`.
  bool wait(double timeout_s) {
    if (pending_ || !engine_->more() || pool_.size() == 0 || pool_.left_behind()) return true;
    if (engine_->head_is_ready() || engine_->leases() == engine_->slots()) return true;
    return await_head(timeout_s);
  }

  using Epoch = EpochOf<Loader>;
  /// The batches up to the end of the current epoch, as a range.
  Epoch epoch() & { return Epoch(this); }

  /// Begins at `at`, such as {.epoch = 3} or an earlier cursor(), and gives the batches up to the
  /// end of that epoch. Error(usage) while a batch is leased, and behind the last epoch.
  Epoch restart(Cursor at) & {
    LoaderOptions options = engine_->options();
    options.start = detail::within_epochs(at, options.epochs);
    options.workers = automatic_ ? automatic : pool_.size();
    reconfigure(options);
    return epoch();
  }

  /// Where the next batch begins. A loader with `start` there, and any batch size, goes on with the
  /// same samples.
  Cursor cursor() const noexcept {
    return engine_->order().cursor_of(pending_ ? pending_->number() : engine_->head());
  }

  /// After the last epoch, `epochs` more, without draining. Not for an endless loader.
  void add_epochs(std::uint64_t epochs) { engine_->add_epochs(epochs); }

  /// Changes the number of workers at once, also to `automatic`; never waits. Batches are shared
  /// out as they were for the number of workers at construction or reconfigure().
  void resize(int workers) {
    LoaderOptions options = engine_->options();
    options.workers = workers;
    employ(checked(options));
  }

  /// Changes anything else, starting again at `start`. Error(usage) while a batch is leased.
  void reconfigure(const LoaderOptions& options) {
    Order(engine_->source().size(), static_cast<std::size_t>(checked(options).batch), options.order,
          options.start);
    if (pool_.left_behind()) throw detail::forked();
    if (engine_->leases() > (pending_ ? 1U : 0U)) throw detail::leased();
    if (!detail::closes_in_time(*engine_, pool_.workers(), [&] { return counters().filled; })) {
      engine_->open();
      throw stalled();
    }
    pending_.reset();
    const int workers = pool_.size();
    try {
      pool_.resize(0);
      engine_->configure(options);
    } catch (...) {
      engine_->open();
      pool_.resize(workers);
      throw;
    }
    epoch_gave_ = false;
    engine_->open();
    employ(options, automatic_ ? automatic_->settled() : usable_cores());
  }

  int workers() const noexcept { return pool_.size(); }            ///< threads that load now
  std::size_t slots() const noexcept { return engine_->slots(); }  ///< batches that have room
  /// Of this rank.
  std::size_t samples_per_epoch() const noexcept { return engine_->order().samples_per_epoch(); }
  /// Of this rank, in a whole epoch.
  std::size_t batches_per_epoch() const noexcept { return engine_->order().batches_per_epoch(); }
  /// How fields lie in the memory of a batch.
  const BatchLayout& layout() const noexcept { return engine_->layout(); }
  const Slab& slab() const noexcept { return engine_->slab(); }  ///< the memory of all batches

  /// Batches that next() would return at once.
  int ready() const noexcept { return engine_->ready(); }
  /// The samples that were left out, each once.
  std::vector<Skip> skips() const { return engine_->skips().distinct(); }

  /// Totals since the loader was made.
  LoaderCounters counters() const {
    LoaderCounters counters = consumed_;
    counters.skipped = engine_->skips().total();
    counters.filled = caller_->filled.load(std::memory_order_relaxed);
    counters.caller_fill_s = caller_->fill_s.load(std::memory_order_relaxed);
    for (const auto& worker : pool_.workers()) worker->add_to(counters);
    return counters;
  }

  /// Counts what another loader of the same dataset has left out as left out by this one.
  void take_over_skips(const Loader& other) { engine_->skips().take_over(other.engine_->skips()); }

  /// How well the consumer was fed since the last call, or since the loader was made, and how much
  /// faster the workers could load. For the thread that consumes.
  Health health() {
    return meter_.read(SteadyClock{}.now_s(), counters(), pool_.workers(), pool_.size());
  }

  /// Threads of any loader that had to be left behind, stuck in a dataset's code.
  static int abandoned() noexcept { return ThreadGroup::abandoned().load(); }

 private:
  friend Epoch;
  void put_back(Lease lease) { pending_.emplace(std::move(lease)); }

  void employ(const LoaderOptions& options, int first = usable_cores()) {
    automatic_.reset();
    if (options.workers == automatic) {
      automatic_.emplace(first, options.most_automatic_workers(usable_cores()), options.slots(),
                         has_memory_for_more, options.max_memory_bytes);
    }
    if (automatic_) return resize_automatic(automatic_->workers());
    pool_.resize(options.workers);
  }

  /// Where no more threads can be started, those that run are enough.
  void resize_automatic(int workers) try { pool_.resize(workers); } catch (const Error&) {
    if (pool_.started() == 0) throw;
    pool_.resize(automatic_->limit(pool_.started()));
  }

  void adapt() {
    const double now_s = SteadyClock{}.now_s();
    if (!automatic_->is_due(now_s, consumed_.batches)) return;
    const int workers = automatic_->choose(now_s, counters());
    if (workers != pool_.size()) resize_automatic(workers);
  }

  void make_head_ready() {
    if (pool_.left_behind()) throw detail::forked();
    if (engine_->head_is_ready()) return;
    if (engine_->leases() == engine_->slots()) throw detail::all_leased(engine_->slots());
    if (pool_.size() == 0) engine_->fill_head(*caller_);
    while (!await_head(engine_->options().stall_s / 5)) {
    }
  }

  /// Throws when no sample was finished for `stall_s` of waiting.
  bool await_head(double timeout_s) {
    const double start_s = SteadyClock{}.now_s();
    const bool ready = engine_->wait_for_head(timeout_s);
    const double waited_s = SteadyClock{}.now_s() - start_s;
    consumed_.wait_s += waited_s;
    quiet_.add(waited_s, timeout_s, counters().filled);
    const bool has_stalled = !ready && quiet_.reaches(engine_->options().stall_s);
    if (ready || has_stalled) quiet_.end();
    if (has_stalled) throw stalled();
    return ready;
  }

  Lease take_head() {
    const std::uint64_t number = engine_->head();
    const TakenBatch taken = engine_->take_head();
    Lease lease(engine_, taken.batch, number, taken.place);
    const bool is_silent = !epoch_gave_ && !taken.error && lease.count() == 0;
    epoch_gave_ = !is_silent && !lease.last();
    if (is_silent && lease.last() && number - lease.index() >= engine_->order().first())
      throw detail::all_skipped(engine_->skips().distinct().front());
    if (taken.error) {
      consumed_.failed += lease.count();
      lease.release();
      std::rethrow_exception(taken.error);
    }
    if (lease.count() > 0) ++consumed_.batches;
    consumed_.samples += lease.count();
    consumed_.bytes += lease.count() * engine_->layout().sample_bytes();
    return lease;
  }

  Error stalled() const {
    return detail::stalled(engine_->options().stall_s, pool_.workers(), engine_->source());
  }

  std::shared_ptr<Engine> engine_;
  WorkerPool pool_;
  std::unique_ptr<Worker> caller_ = std::make_unique<Worker>(-1);
  std::optional<AutomaticWorkers> automatic_;
  LoaderCounters consumed_;
  detail::QuietTime quiet_;
  HealthMeter meter_{SteadyClock{}.now_s()};
  bool epoch_gave_ = false;       ///< a sample or an error, in the present epoch
  std::optional<Lease> pending_;  ///< of the next epoch, met while looking for the end of one
};

}  // namespace feedrate::inline v0
