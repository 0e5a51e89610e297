// SPDX-License-Identifier: Apache-2.0
// A device with memory of its own that does nothing but count, and takes time on a fake clock.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/measure/async_device.hpp"

namespace feedrate {

/// Work takes no time of the host until `finish`, which advances the clock to the work's end.
class FakeDevice final : public AsyncDevice {
 public:
  explicit FakeDevice(FakeClock* clock = nullptr) : clock_(clock) {}

  double step_time_s = 0;
  double copy_time_s = 0;
  bool can_pin = true;
  double pinning_s = 0;
  int most_batch = 1 << 20;  ///< beyond, memory does not suffice

  std::vector<Config> prepared;
  std::vector<std::size_t> slot_bytes;  ///< of the layouts it was made ready for
  std::vector<std::size_t> slabs;       ///< bytes of each, in the order of their making
  std::vector<char> calls;              ///< u: upload, s: step, f: finish
  std::size_t leased = 0;               ///< batches that it still holds

  /// Bytes of pinned memory of all such devices, and the most that there were at once.
  inline static std::size_t pinned_bytes = 0, most_pinned_bytes = 0;

  Slab make_slab(std::size_t bytes, bool pinned) override {
    slabs.push_back(bytes);
    Slab plain = feedrate::make_slab(bytes);
    if (!pinned) return plain;
    pinned_bytes += bytes;
    most_pinned_bytes = std::max(most_pinned_bytes, pinned_bytes);
    const SlabKind kind = can_pin ? SlabKind::pinned : SlabKind::plain;
    const char* reason = can_pin ? "" : "too much is locked";
    return {new std::byte[bytes], bytes, kind, pinning_s, reason, free_};
  }

  int copies_in_flight() const override { return 2; }

  void prepare(const Config& config, const BatchLayout& layout) override {
    if (config.batch > most_batch) throw Error(Fault::device, "The device's memory is full.");
    prepared.push_back(config);
    slot_bytes.push_back(layout.bytes());
  }

  std::optional<std::size_t> upload(Loader& loader) override {
    auto lease = loader.next();
    if (!lease) return std::nullopt;
    const std::size_t samples = lease->count();
    if (held_.size() == 2) held_.erase(held_.begin());
    held_.push_back(std::move(*lease));
    leased = held_.size();
    queue('u', copy_time_s);
    work_.copy_s += copy_time_s;
    return samples;
  }

  void upload(const Batch&) override {
    queue('u', copy_time_s);
    work_.copy_s += copy_time_s;
  }

  void step() override {
    queue('s', step_time_s);
    work_.step_s += step_time_s;
    ++work_.steps;
  }

  DeviceWork finish() override {
    calls.push_back('f');
    held_.clear();
    leased = 0;
    if (clock_) clock_->advance_s(std::max(0.0, free_at_s_ - clock_->now_s()));
    return std::exchange(work_, {});
  }

  std::uint64_t used_bytes() override { return 1000; }

  std::size_t memory_bytes(const Config& config, const BatchLayout& layout) const override {
    return layout.bytes() + static_cast<std::size_t>(config.batch);
  }

  std::size_t largest_batch() const override { return static_cast<std::size_t>(most_batch); }

 private:
  static void free_(std::byte* data, std::size_t bytes) noexcept {
    pinned_bytes -= bytes;
    delete[] data;
  }

  void queue(char call, double seconds) {
    calls.push_back(call);
    if (clock_) free_at_s_ = std::max(free_at_s_, clock_->now_s()) + seconds;
  }

  FakeClock* clock_;
  double free_at_s_ = 0;
  DeviceWork work_;
  std::vector<Lease> held_;
};

}  // namespace feedrate
