// SPDX-License-Identifier: Apache-2.0
// A device with its own memory, which works asynchronously, as the measurer sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>

#include "feedrate/core/config.hpp"
#include "feedrate/load/loader.hpp"

namespace feedrate::inline v0 {

/// What a device has done since it was asked last, by its own clock.
struct DeviceWork {
  double step_s = 0;  ///< it executed steps
  double copy_s = 0;  ///< it copied batches to its memory
  int steps = 0;
  double variability = 0;  ///< squared coefficient of variation of the time from step to step
};

/// Copies batches to the device and queues steps on them. Calls return before the work is done, but
/// none lets more than some steps pile up. All throw Error(device), and DeviceLost where no further
/// call can succeed.
class AsyncDevice {
 public:
  AsyncDevice() = default;
  AsyncDevice(const AsyncDevice&) = delete;
  AsyncDevice& operator=(const AsyncDevice&) = delete;
  virtual ~AsyncDevice() = default;

  /// Memory for the slots of a loader, page-locked where `pinned`. Its reason says why it is not.
  virtual Slab make_slab(std::size_t bytes, bool pinned) = 0;

  /// Slots that a loader needs for the batches that are being copied.
  virtual int copies_in_flight() const = 0;

  /// Makes step and device slots of a config ready. Where the memory of the device doesn't suffice
  /// it throws, and the next config works as before.
  virtual void prepare(const Config& config, const BatchLayout& layout) = 0;

  /// Queues the copy of the loader's next batch; its samples, or empty behind the last batch.
  virtual std::optional<std::size_t> upload(Loader& loader) = 0;

  /// Queues the copy of a batch that stays where it is until `finish`.
  virtual void upload(const Batch& batch) = 0;

  /// Queues a step on the batch that was uploaded last.
  virtual void step() = 0;

  /// Waits until all is done; no batch is leased any more.
  virtual DeviceWork finish() = 0;

  /// Bytes of its memory in use, by all processes, without what earlier configs have left. Throws
  /// what the steps found wrong with the data.
  virtual std::uint64_t used_bytes() = 0;

  /// Bytes of device memory that a config needs, without taking them.
  virtual std::size_t memory_bytes(const Config& config, const BatchLayout& layout) const = 0;

  /// Samples of the largest batch that its step takes, whatever the memory.
  virtual std::size_t largest_batch() const = 0;
};

/// Runs `work`. Where that fails midway the device, which may be null, still holds the batches that
/// it copies from, and their loader could begin nothing else: they are given back first.
template <class Work>
auto or_finish(AsyncDevice* device, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    try {
      if (device) device->finish();
    } catch (const std::exception&) {  // what failed first is told
    }
    throw;
  }
}

}  // namespace feedrate::inline v0
