// SPDX-License-Identifier: Apache-2.0
// The loader as Python sees it: epochs begin anew, batches stay valid, and nothing waits with the
// GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "feedrate/load/loader.hpp"
#include "held_batch.hpp"

namespace feedrate::python {

/// Slots that Python may hold; of what it holds beyond these it gets copies. A loop holds one batch
/// while it is given the next one.
inline constexpr int held_slots = 2;

/// Memory for the slots of a loader that nobody has touched: the first batch does not wait until
/// all slots are there. All but the first slot are in huge pages where the kernel grants them:
/// these take longer to get, and the first batch is waited for. Throws OutOfMemory.
inline Slab untouched_slab(const Source& source, const LoaderOptions& options) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t slot =
      BatchLayout(checked(source.layout()), static_cast<std::size_t>(checked(options).batch))
          .bytes();
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(slot, static_cast<std::size_t>(options.slots()), &bytes) ||
      bytes > SIZE_MAX - huge_page) {
    refuse_slab(SIZE_MAX);
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) refuse_slab(bytes);
  auto* const data = static_cast<std::byte*>(memory);
  const std::size_t first = slot / huge_page * huge_page;
  const bool huge = kind_for(bytes) == SlabKind::huge && bytes > first &&
                    madvise(data + first, bytes - first, MADV_HUGEPAGE) == 0;
  const Slab::Free unmap = [](std::byte* pages, std::size_t size) noexcept { munmap(pages, size); };
  return {data, bytes, huge ? SlabKind::huge : SlabKind::plain, 0, "", unmap};
}

class Loader {
 public:
  Loader(std::shared_ptr<const Source> source, LoaderOptions options)
      : source_(std::move(source)), options_(std::move(options)) {
    options_.copies_in_flight = held_slots - 1;
    make();
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
    const std::uint64_t start = next_start_;
    if (!loader_ || position_ != start) {
      options_.start_batch = start;
      restart();
    }
    next_start_ = (start / per_epoch_ + 1) * per_epoch_;
    end_ = next_start_;
    ++iteration_;
  }

  /// Begins an epoch of these samples, in this order; for a program that has a sampler of its own.
  void begin(std::vector<std::size_t> samples, std::uint64_t seed) {
    options_.order.sampler = std::make_shared<ListSampler>(std::move(samples));
    options_.order.seed = seed;
    options_.epochs = 1;
    options_.start_batch = 0;
    require_open();
    restart();
    per_epoch_ = loader_->batches_per_epoch();
    end_ = per_epoch_;
    ++iteration_;
  }

  /// The next batch of the epoch; nullptr at its end. Waits without the GIL, and looks for signals.
  std::shared_ptr<const HeldBatch> next() {
    std::optional<Lease> lease = pending_ ? std::exchange(pending_, std::nullopt) : take();
    if (!lease) return nullptr;
    if (lease->number() >= end_) {  // every sample of the epoch's last batch was left out
      pending_ = std::move(lease);
      return nullptr;
    }
    position_ = lease->number() + 1;
    // The last one is a copy, since a loop's variables hold it while the next epoch begins.
    if (*leases_ >= held_slots || lease->last()) {
      const nanobind::gil_scoped_release without;
      return std::make_shared<const HeldBatch>(lease->copy());
    }
    return std::make_shared<const HeldBatch>(std::move(*lease), leases_);
  }

  bool at_end() const noexcept { return position_ >= end_; }
  std::uint64_t iteration() const noexcept { return iteration_; }

  std::size_t batches() const noexcept { return per_epoch_; }
  std::uint64_t epoch() const noexcept { return next_start_ / per_epoch_; }
  void set_epoch(std::uint64_t epoch) noexcept { next_start_ = epoch * per_epoch_; }

  /// Batches until where training stands, counted across epochs.
  std::uint64_t position() const noexcept { return at_end() ? next_start_ : position_; }
  void resume(std::uint64_t position) noexcept { next_start_ = position; }

  int workers() const { return get().workers(); }
  void resize(int workers) {
    get().resize(workers);
    options_.workers = workers;
  }
  Health health() { return get().health(); }
  std::vector<Skip> skips() const { return get().skips(); }
  const Layout& fields() const { return get().layout().fields(); }
  std::uint64_t memory_bytes() const { return get().slab().bytes(); }

  /// Ends the workers. Batches that Python holds stay valid.
  void close() noexcept {
    pending_.reset();
    if (!loader_) return;
    if (::getpid() != process_) {  // its threads are in the process that was forked
      static_cast<void>(loader_.release());
      return;
    }
    const nanobind::gil_scoped_release without;
    loader_.reset();
  }

  /// Before Python ends: threads must not run while what they use is destroyed.
  static void close_all() {
    const std::lock_guard lock(all_mutex());
    for (Loader* const loader : all()) loader->close();
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

  void make() {
    leases_ = std::make_shared<std::atomic<int>>(0);
    {
      const nanobind::gil_scoped_release without;
      loader_ =
          std::make_unique<feedrate::Loader>(source_, options_, untouched_slab(*source_, options_));
    }
    per_epoch_ = loader_->batches_per_epoch();
    position_ = options_.start_batch;
  }

  /// Starts again as the options say, in the same memory where nobody holds a part of it.
  void restart() {
    pending_.reset();
    if (!loader_ || *leases_ > 0) return make();
    {
      const nanobind::gil_scoped_release without;
      loader_->reconfigure(options_);
    }
    position_ = options_.start_batch;
  }

  std::optional<Lease> take() {
    require_open();
    while (true) {
      {
        const nanobind::gil_scoped_release without;
        const std::lock_guard lock(mutex_);
        if (get().wait(0.1)) return loader_->next();
      }
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }
  }

  feedrate::Loader& get() const {
    if (!loader_) throw Error(Fault::usage, "This loader is closed; make another one.");
    return *loader_;
  }

  void require_open() const {
    get();
    if (::getpid() == process_) return;
    throw Error(
        Fault::usage,
        "This loader was made before a fork, and its threads are in the other process; make "
        "a loader in this one.");
  }

  std::shared_ptr<const Source> source_;
  LoaderOptions options_;
  pid_t process_ = ::getpid();
  std::unique_ptr<feedrate::Loader> loader_;
  std::shared_ptr<std::atomic<int>> leases_;
  std::optional<Lease> pending_;  ///< of the next epoch
  std::mutex mutex_;
  std::uint64_t per_epoch_ = 0, position_ = 0, next_start_ = 0, end_ = 0;  ///< in batches
  std::uint64_t iteration_ = 0;
};

}  // namespace feedrate::python
