// SPDX-License-Identifier: Apache-2.0
// The loader as Python sees it: each loop is an epoch, and batches stay valid while they are held.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "epoch_lists.hpp"
#include "feedrate/load/loader.hpp"
#include "held_batch.hpp"

namespace feedrate::python {

/// Slots that Python may hold; of what it holds beyond these it gets copies. A loop holds one batch
/// while it is given the next one.
inline constexpr int held_slots = 2;

class Loader {
 public:
  Loader(std::shared_ptr<const Source> source, LoaderOptions options)
      : source_(std::move(source)), options_(std::move(options)) {
    options_.copies_in_flight = held_slots - std::min(options_.prefetch, 1);  // one is not held
    options_.lazy_memory = true;  // a training waits for its first batch, and measures nothing
    checked(options_);
    make(0);
    const std::lock_guard lock(all_mutex());
    all().insert(this);
  }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  ~Loader() {
    {
      const std::lock_guard lock(all_mutex());
      all().erase(this);
    }
    close();
  }

  /// Begins the next epoch, or the one that was set. What is left of the last one is dropped.
  void begin() {
    require_open();
    if (!started_ || stands_ != next_) {
      options_.start = next_;
      restart();
    }
    epoch_ = stands_.epoch;
    next_ = {epoch_ + 1, 0};
    ++iteration_;
  }

  /// Begins an epoch of these samples, in this order; for a program that has a sampler of its own.
  void begin(std::vector<std::size_t> samples, std::uint64_t seed) {
    require_open();
    ++iteration_;
    if (lists_ && at_end() && lists_->size() == samples.size()) {
      lists_->set(++epoch_, std::move(samples), seed);
      const Alone alone(*this);
      get().add_epochs(1);
      return;
    }
    lists_ = std::make_shared<EpochLists>(samples.size());
    lists_->set(0, std::move(samples), seed);
    options_.order.sampler = lists_;
    options_.epochs = 1;
    options_.start = {};
    restart();
    epoch_ = 0;
  }

  /// The next batch of the epoch; nullptr at its end. Waits without the GIL, and looks for signals.
  std::shared_ptr<const HeldBatch> next() {
    std::optional<Lease> lease = pending_ ? std::exchange(pending_, std::nullopt) : take();
    if (!lease) return nullptr;
    if (lease->epoch() != epoch_) {  // every sample of the epoch's last batch was left out
      pending_ = std::move(lease);
      return nullptr;
    }
    stands_ = behind_;
    if (*leases_ >= held_slots) {
      const nanobind::gil_scoped_release without;
      return std::make_shared<const HeldBatch>(lease->copy());
    }
    return std::make_shared<const HeldBatch>(std::move(*lease), leases_);
  }

  bool at_end() const noexcept { return !started_ || stands_.epoch != epoch_; }
  std::uint64_t iteration() const noexcept { return iteration_; }

  std::size_t batches() const noexcept { return per_epoch_; }
  std::size_t samples() const noexcept { return samples_; }
  std::uint64_t epoch() const noexcept { return next_.epoch; }
  void set_epoch(std::uint64_t epoch) noexcept { next_ = {epoch, 0}; }

  /// Where training stands.
  Cursor cursor() const noexcept { return at_end() ? next_ : stands_; }
  void resume(Cursor at) noexcept { next_ = at; }

  int workers() const {
    const Alone alone(*this);
    return started_ ? get().workers() : options_.workers;
  }
  void resize(int workers) {
    LoaderOptions changed = options_;
    changed.workers = workers;
    checked(changed);
    const Alone alone(*this);
    if (started_) get().resize(workers);
    options_.workers = workers;
  }
  Health health() const {
    const Alone alone(*this);
    return get().health();
  }
  std::vector<Skip> skips() const {
    const Alone alone(*this);
    return get().skips();
  }
  const Layout& fields() const noexcept { return fields_; }
  std::uint64_t memory_bytes() const {
    const Alone alone(*this);
    return get().slab().bytes();
  }

  /// Ends the workers, and what waits for a batch in another thread. Batches that Python holds stay
  /// valid.
  void close() noexcept {
    pending_.reset();
    const Alone alone(*this);
    loader_.reset();
  }

  /// Python calls this when it exits. The threads end here, before Python destroys what they use.
  static void close_all() {
    while (Loader* const loader = take_one()) loader->close();
  }

 private:
  static std::set<Loader*>& all() {
    static std::set<Loader*> loaders;
    return loaders;
  }
  static std::mutex& all_mutex() {
    static std::mutex mutex;
    return mutex;
  }
  /// One of them, which is then none of them any more. Who closes it must not hold the mutex:
  /// closing lets other threads of Python run, and one may be about to destroy a loader.
  static Loader* take_one() {
    const std::lock_guard lock(all_mutex());
    return all().empty() ? nullptr : all().extract(all().begin()).value();
  }

  /// The loader without Python's lock, and for one thread at a time. A thread that waits for it
  /// can't hold up the others.
  class Alone {
   public:
    explicit Alone(const Loader& loader) : lock_(loader.mutex_) {}

   private:
    nanobind::gil_scoped_release without_;
    std::lock_guard<std::mutex> lock_;
  };

  /// Before the first epoch nobody works: which samples it has is not known yet.
  void make(int workers) {
    LoaderOptions options = options_;
    options.workers = workers;
    leases_ = std::make_shared<std::atomic<int>>(0);
    const Alone alone(*this);
    loader_ = std::make_unique<feedrate::Loader>(source_, options);
    look();
  }

  /// Starts again as the options say, in the same memory where nobody holds a part of it.
  void restart() {
    pending_.reset();
    started_ = true;
    if (*leases_ > 0) return make(options_.workers);
    const Alone alone(*this);
    get().reconfigure(options_);
    look();
  }

  void look() {
    fields_ = loader_->layout().fields();
    per_epoch_ = loader_->batches_per_epoch();
    samples_ = loader_->samples_per_epoch();
    stands_ = loader_->cursor();
  }

  std::optional<Lease> take() {
    require_open();
    while (true) {
      {
        const Alone alone(*this);
        if (get().wait(0.1)) {
          std::optional<Lease> lease = get().next();
          behind_ = get().cursor();
          return lease;
        }
      }
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }
  }

  feedrate::Loader& get() const {
    if (!loader_) throw Error(Fault::usage, "This loader is closed; make another one.");
    return *loader_;
  }

  void require_open() const {
    {
      const Alone alone(*this);
      get();
    }
    if (::getpid() == process_) return;
    throw detail::forked();
  }

  std::shared_ptr<const Source> source_;
  LoaderOptions options_;
  pid_t process_ = ::getpid();
  std::unique_ptr<feedrate::Loader> loader_;
  std::shared_ptr<EpochLists> lists_;
  std::shared_ptr<std::atomic<int>> leases_;
  std::optional<Lease> pending_;  ///< of the next epoch
  mutable std::mutex mutex_;      ///< of loader_
  Layout fields_;
  std::size_t per_epoch_ = 0, samples_ = 0;  ///< batches and samples of an epoch
  std::uint64_t epoch_ = 0;                  ///< of the loop that runs, or was the last one
  Cursor stands_, next_;                     ///< behind the last batch; where the next loop begins
  Cursor behind_;                            ///< the last batch, or the one that is pending
  std::uint64_t iteration_ = 0;
  bool started_ = false;
};

}  // namespace feedrate::python
