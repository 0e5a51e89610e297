// SPDX-License-Identifier: Apache-2.0
// The uploader: copies host batches into device slots, beside the work on another stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/cuda/device.hpp"
#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/stream.hpp"
#include "feedrate/cuda/transfer.hpp"
#include "feedrate/load/lease.hpp"

namespace feedrate::inline v0::cuda {

/// How a feed copies batches.
struct FeedOptions {
  int slots = 3;        ///< batches that have room on the device; with 1 nothing overlaps
  double stall_s = 30;  ///< a copy that began and does not end for so long: the device is lost
  double queue_s = longest_queue_s;  ///< the same for work of yours that a copy waits for

  bool operator==(const FeedOptions&) const = default;
};

/// Copies batches to a device, which is current when this is made, on a stream of its own. Events
/// alone order the two streams: work on `compute` waits for its batch's copy, a copy waits until
/// the batch that lay in its slot before was consumed. For one thread; `compute` must outlive it.
///
/// From pinned memory `upload` only queues, and waits where the device is `slots` copies behind.
/// From other memory it returns when the runtime has read the bytes, which blocks the host. After
/// an error of the device, other than OutOfMemory, no lease is held and every call throws that
/// error again.
class Uploader {
 public:
  /// Throws Error(usage) on invalid options.
  explicit Uploader(cudaStream_t compute, const FeedOptions& options = {})
      : compute_(compute), options_(checked(options)), device_(current_device()) {
    slots_.resize(static_cast<std::size_t>(options.slots));
  }
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  /// Waits until no queued work touches the slots, within the bounds of the options.
  ~Uploader() {
    try {
      if (!failure_) wait_for_all();
    } catch (...) {  // whoever asks the device next is told
    }
  }

  /// LoaderOptions::copies_in_flight that an uploader wants, so that its leases don't take away
  /// from the batches ready ahead.
  static int copies_in_flight(const FeedOptions& options) { return std::max(1, options.slots - 1); }

  /// Makes room for batches of that size. Waits for all queued work where there is too little.
  /// Throws OutOfMemory; there is no room then, and a later call may ask for less.
  void reserve(std::size_t batch_bytes) {
    if (batch_bytes <= slot_bytes_ && !failure_) return;
    release();
    const OnDevice here(device_);
    memory_ = DeviceMemory(batch_bytes * slots_.size());
    slot_bytes_ = batch_bytes;
  }

  /// Gives the memory of the slots back, once all queued work is done.
  void release() {
    guarded([this] { wait_for_all(); });
    slot_bytes_ = 0;
    const OnDevice here(device_);
    memory_ = DeviceMemory();
  }

  /// Bytes of the slots on the device.
  std::size_t bytes() const noexcept { return memory_.bytes(); }

  /// Queues the copy of a leased batch and lets `compute` wait for it. The lease ends when the
  /// bytes are copied. What was queued on `compute` until now is what uses the batch uploaded
  /// before. The result lies on the device and is valid until the next upload, and while its layout
  /// exists.
  Batch upload(Lease&& lease) {
    Lease held = std::move(lease);  // outlives the waiting where the queueing fails
    reserve(held.layout().bytes());
    return guarded([&] {
      const Batch batch = queue(held);
      slot_of(queued_ - 1).lease = std::move(held);
      return batch;
    });
  }

  /// The same for a batch that stays as it is until `settle` has returned.
  Batch upload(const Batch& batch) {
    reserve(batch.layout().bytes());
    return guarded([&] { return queue(batch); });
  }

  /// Ends the leases of copies that are done, and waits until no more than copies_in_flight are
  /// left, and no more than `most`.
  void make_room(std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const std::uint64_t pending = std::min(most, std::max<std::size_t>(1, slots_.size() - 1));
    guarded([&] {
      look();
      if (queued_ > pending) wait_for_copies(queued_ - pending);
    });
  }

  /// Waits until all copies are done and their leases have ended; not for work on `compute`.
  void settle() {
    guarded([this] { wait_for_copies(queued_); });
  }

  /// Seconds that copies took on the device since the last call, of those found to be done.
  double take_copy_s() {
    guarded([this] { look(); });
    return std::exchange(copy_s_, 0);
  }

 private:
  /// Room for one batch. Its events are set again with each batch that it takes.
  struct Slot {
    Event started{Event::Kind::timed};
    Event copied{Event::Kind::timed};
    Event consumed;
    std::optional<Lease> lease;
  };

  static const FeedOptions& checked(const FeedOptions& options) {
    if (options.slots >= 1 && options.stall_s > 0 && options.queue_s > 0) return options;
    throw Error(Fault::usage,
                "A feed needs at least 1 slot, and a positive stall_s and queue_s; it was given " +
                    std::to_string(options.slots) + ", " + std::to_string(options.stall_s) +
                    " and " + std::to_string(options.queue_s) + ".");
  }

  /// Runs `work`. When that fails no lease is left, and no copy where one could still end.
  template <class Work>
  auto guarded(Work&& work) -> decltype(work()) {
    if (failure_) std::rethrow_exception(failure_);
    try {
      return work();
    } catch (const OutOfMemory&) {  // the device works on
      if (end_copies()) give_up(std::current_exception());
      end_leases();
      throw;
    } catch (const DeviceLost&) {
      give_up(std::current_exception());
      throw;
    } catch (...) {
      end_copies();
      give_up(std::current_exception());
      throw;
    }
  }

  /// True where the device was lost meanwhile; what failed first is told.
  bool end_copies() noexcept {
    try {
      copy_.synchronize(options_.queue_s);
    } catch (const DeviceLost&) {
      return true;
    } catch (...) {
    }
    return false;
  }

  void end_leases() noexcept {
    for (Slot& slot : slots_) slot.lease.reset();
    copied_ = queued_;
  }

  void give_up(std::exception_ptr failure) noexcept {
    failure_ = std::move(failure);
    end_leases();
  }

  Slot& slot_of(std::uint64_t upload) noexcept { return slots_[upload % slots_.size()]; }

  Batch queue(const Batch& host) {
    if (host.rows()) {
      throw Error(Fault::usage,
                  "A loader that trims ragged fields can't feed a GPU: its batches are copied "
                  "whole. Leave LoaderOptions::trim off.");
    }
    if (queued_ > 0) slot_of(queued_ - 1).consumed.record(compute_);
    if (queued_ >= slots_.size()) wait_for_copies(queued_ + 1 - slots_.size());
    Slot& slot = slot_of(queued_);
    std::byte* const data = memory_.data() + (queued_ % slots_.size()) * slot_bytes_;
    copy_.wait_for(slot.consumed);
    slot.started.record(copy_.handle());
    check(cudaMemcpyAsync(data, host.data(), host.layout().bytes(), cudaMemcpyHostToDevice,
                          copy_.handle()),
          "copying a batch");
    slot.copied.record(copy_.handle());
    check(cudaStreamWaitEvent(compute_, slot.copied.handle(), 0), "ordering two streams");
    ++queued_;
    return {host.layout(), data, host.count(), host.epoch(), host.index(), host.last()};
  }

  /// Ends the lease of the oldest copy if that is done.
  bool end_oldest() {
    Slot& slot = slot_of(copied_);
    if (!slot.copied.done()) return false;
    copy_s_ += slot.copied.seconds_since(slot.started);
    slot.lease.reset();
    ++copied_;
    return true;
  }

  void look() {
    while (copied_ < queued_ && end_oldest()) {
    }
  }

  void wait_for_copies(std::uint64_t uploads) {
    while (copied_ < uploads) {
      wait_until([this] { return slot_of(copied_).started.done(); }, options_.queue_s,
                 "the work before a copy");
      wait_until([this] { return end_oldest(); }, options_.stall_s, "a copy");
    }
  }

  void wait_for_all() {
    if (queued_ == 0) return;
    wait_for_copies(queued_);
    Event& consumed = slot_of(queued_ - 1).consumed;
    consumed.record(compute_);
    wait_until([&] { return consumed.done(); }, options_.queue_s, "the work on its last batch");
  }

  cudaStream_t compute_;
  FeedOptions options_;
  int device_;
  Stream copy_;
  DeviceMemory memory_;
  std::size_t slot_bytes_ = 0;
  std::vector<Slot> slots_;
  std::uint64_t queued_ = 0;  ///< uploads so far
  std::uint64_t copied_ = 0;  ///< those of them that are known to be done: the oldest
  double copy_s_ = 0;
  std::exception_ptr failure_;
};

}  // namespace feedrate::inline v0::cuda
