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
#include <utility>
#include <vector>

#include "alone.hpp"
#include "epoch_lists.hpp"
#include "feedrate/load/loader.hpp"
#include "held_batch.hpp"
#include "place.hpp"
#include "registry.hpp"

namespace feedrate::python {

/// Threads may share a loader: each call has it alone, without Python's lock (GIL).
class Loader {
 public:
  Loader(std::shared_ptr<const Source> source, LoaderOptions options)
      : source_(std::move(source)), options_(std::move(options)) {
    options_.copies_in_flight = held_slots - std::min(options_.prefetch, 1);  // one is not held
    options_.lazy_memory = true;  // a training waits for its first batch, and measures nothing
    checked(options_);
    const nanobind::gil_scoped_release without;
    make();
    fields_ = loader_->layout().fields();
    all().add(*this);
  }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  ~Loader() {
    const nanobind::gil_scoped_release without;
    all().remove(*this);
    end();
  }

  /// Begins the next epoch, or the one that was set. What is left of the last one is dropped.
  Loop begin() {
    const Alone alone(mutex_);
    require_open();
    const Loop loop{++iteration_};
    if (!started_ || !place_.is_next()) {
      options_.start = place_.next();
      restart();
    }
    place_.begin_loop();
    return loop;
  }

  /// Begins an epoch of these samples, in this order; for a program that has a sampler of its own.
  void begin(std::vector<std::size_t> samples, std::uint64_t seed) {
    const Alone alone(mutex_);
    require_open();
    begun_ = {++iteration_};
    if (started_ && lists_ && place_.at_end() && lists_->size() == samples.size()) {
      place_.begin_epoch();
      lists_->set(place_.epoch(), std::move(samples), seed);
      loader_->add_epochs(1);
      return;
    }
    auto lists = std::make_shared<EpochLists>(samples.size());
    lists->set(0, std::move(samples), seed);
    options_.order.sampler = lists;
    options_.epochs = 1;
    options_.start = {};
    restart();
    lists_ = std::move(lists);
    place_.begin_epoch();
  }

  /// The next batch of a loop; nullptr at its end. Waits without the GIL, and looks for signals.
  std::shared_ptr<const HeldBatch> next(Loop& loop) {
    while (true) {
      {
        const Alone alone(mutex_);
        if (loop.ended) return nullptr;
        require_open();
        if (loop.iteration != iteration_) {
          throw Error(Fault::usage,
                      "A newer loop over this loader has begun, which ends this one.");
        }
        if (at_end() || pending_ || loader_->wait(0.1)) {
          auto batch = at_end() ? nullptr : take();
          loop.ended = !batch || batch->batch().last();
          return batch;
        }
      }
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }
  }
  /// Of the samples that were given last.
  std::shared_ptr<const HeldBatch> next() { return next(begun_); }

  std::size_t batches() const {
    return read_alone(mutex_, [&] { return per_epoch_; });
  }
  std::size_t samples() const {
    return read_alone(mutex_, [&] { return samples_; });
  }
  std::uint64_t epoch() const {
    return read_alone(mutex_, [&] { return place_.next().epoch; });
  }
  void set_epoch(std::uint64_t epoch) { resume({epoch, 0}); }

  /// Where training stands.
  Cursor cursor() const {
    return read_alone(mutex_, [&] { return started_ ? place_.cursor() : place_.next(); });
  }
  void resume(Cursor at) {
    const Alone alone(mutex_);
    place_.set(at);
  }

  int workers() const {
    return read_alone(mutex_,
                      [&] { return started_ ? get().workers() : std::max(options_.workers, 0); });
  }
  void resize(int workers) {
    const Alone alone(mutex_);
    LoaderOptions changed = options_;
    changed.workers = workers;
    checked(changed);
    if (started_) get().resize(workers);
    options_.workers = workers;
  }
  Health health() const {
    return read_alone(mutex_, [&] { return get().health(); });
  }
  std::vector<Skip> skips() const {
    return read_alone(mutex_, [&] { return get().skips(); });
  }
  const Layout& fields() const noexcept { return fields_; }
  std::uint64_t memory_bytes() const {
    return read_alone(mutex_, [&] { return get().slab().bytes(); });
  }

  /// Ends the workers, and who waits for a batch. Batches that Python holds stay valid.
  void close() {
    const nanobind::gil_scoped_release without;
    end();
  }

  /// Python calls this when it exits. The threads end here, before Python destroys what they use.
  static void close_all() {
    const nanobind::gil_scoped_release without;
    all().visit([](Loader& loader) { loader.end(); });
  }

 private:
  static Registry<Loader>& all() {
    static Registry<Loader> loaders;
    return loaders;
  }

  // The functions below, up to end(), are for who has mutex_.

  /// Until an epoch begins nobody works: which samples it has is not known yet.
  void make() {
    LoaderOptions options = options_;
    options.workers = 0;
    auto made = std::make_unique<feedrate::Loader>(source_, options);
    if (loader_) made->take_over_skips(*loader_);
    loader_ = std::move(made);
    leases_ = std::make_shared<std::atomic<int>>(0);
    look();
  }

  /// Starts again as the options say; in the same memory, if nobody holds a part of it.
  void restart() {
    pending_.reset();
    started_ = false;
    if (*leases_ > 0) make();
    loader_->reconfigure(options_);
    look();
    started_ = true;
  }

  void look() {
    per_epoch_ = loader_->batches_per_epoch();
    samples_ = loader_->samples_per_epoch();
    place_.stand(loader_->cursor());
  }

  bool at_end() const noexcept { return !started_ || place_.at_end(); }

  std::shared_ptr<const HeldBatch> take() {
    if (!pending_) {
      try {
        pending_ = loader_->next();
      } catch (const SampleError&) {  // that batch is lost
        place_.take(loader_->cursor());
        throw;
      }
      behind_ = loader_->cursor();
    }
    if (!pending_ || pending_->epoch() != place_.epoch()) {
      place_.end_epoch();
      return nullptr;
    }
    Lease lease = *std::exchange(pending_, std::nullopt);
    place_.take(behind_);
    if (*leases_ >= held_slots) return std::make_shared<const HeldBatch>(lease.copy());
    return std::make_shared<const HeldBatch>(std::move(lease), leases_);
  }

  void end() noexcept {
    const std::lock_guard lock(mutex_);
    pending_.reset();
    loader_.reset();
  }

  feedrate::Loader& get() const {
    if (!loader_) throw Error(Fault::usage, "This loader is closed; make another one.");
    return *loader_;
  }
  void require_open() const {
    get();
    if (::getpid() == process_) return;
    throw Error(Fault::usage, "This process came out of fork(): make the loader in it.");
  }

  const std::shared_ptr<const Source> source_;
  const pid_t process_ = ::getpid();
  Layout fields_;            ///< never changes
  mutable FairMutex mutex_;  ///< of all that follows
  LoaderOptions options_;
  std::unique_ptr<feedrate::Loader> loader_;
  std::shared_ptr<EpochLists> lists_;
  std::shared_ptr<std::atomic<int>> leases_;
  std::optional<Lease> pending_;             ///< of the next epoch
  std::size_t per_epoch_ = 0, samples_ = 0;  ///< batches and samples of an epoch
  Place place_;
  Cursor behind_;  ///< the last batch, or the one that is pending
  std::uint64_t iteration_ = 0;
  Loop begun_;  ///< over samples that were given
  bool started_ = false;
};

}  // namespace feedrate::python
