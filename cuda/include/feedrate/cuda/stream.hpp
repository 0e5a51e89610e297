// SPDX-License-Identifier: Apache-2.0
// Streams and events: queues of work on the device, and marks in them.
#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "feedrate/core/clock.hpp"
#include "feedrate/cuda/check.hpp"

namespace feedrate::inline v0::cuda {
namespace detail {

/// What a query of the runtime says.
inline bool is_done(cudaError_t status, const char* what) {
  if (status == cudaErrorNotReady) {
    cudaGetLastError();  // it is no error, but a check of the next launch would find it
    return false;
  }
  check(status, what);
  return true;
}

}  // namespace detail

/// A mark in a stream. Timed where intervals between two marks are to be told.
class Event {
 public:
  enum class Kind { timed, untimed };

  explicit Event(Kind kind = Kind::untimed) {
    const unsigned flags = kind == Kind::timed ? cudaEventDefault : cudaEventDisableTiming;
    check(cudaEventCreateWithFlags(&event_, flags), "making an event");
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_) cudaEventDestroy(event_);
  }

  cudaEvent_t handle() const noexcept { return event_; }

  /// Sets the mark behind all that is in the stream now.
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "marking a stream"); }

  /// True when the work before the last mark is done, or where none was set. Throws what that work
  /// has failed of.
  bool done() const {
    return detail::is_done(cudaEventQuery(event_), "looking for the end of work on the GPU");
  }

  /// Seconds from `start`'s mark to this one; both must be timed and done.
  double seconds_since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "timing work on the GPU");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Waits until `done()`, for `bound_s` at most; throws DeviceLost behind that, since a context
/// that has failed may never answer.
template <class Done>
void wait_until(Done&& done, double bound_s, const char* what) {
  const double start_s = SteadyClock{}.now_s();
  for (int looks = 0; !done(); ++looks) {
    // Looks once more: the clock also runs while the process is stopped (Ctrl-Z, a debugger).
    if (SteadyClock{}.now_s() - start_s > bound_s && !done()) {
      detail::device_hangs = true;
      throw DeviceLost(std::string("The GPU did not end ") + what + " within " +
                       std::to_string(static_cast<int>(bound_s)) + " s: see nvidia-smi and dmesg.");
    }
    // Copies and small steps take tens of microseconds; sleeping takes longer than that.
    if (looks > 2000) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    } else {
      std::this_thread::yield();
    }
  }
}

/// Waits until all that is queued on a stream is done, for `bound_s` at most. Throws what it has
/// failed of.
inline void wait_for(cudaStream_t stream, double bound_s = 60) {
  const auto done = [stream] {
    return detail::is_done(cudaStreamQuery(stream), "waiting for the GPU");
  };
  wait_until(done, bound_s, "its queued work");
}

/// A queue of work, which runs in order and beside other streams.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Stream() {
    if (stream_) cudaStreamDestroy(stream_);
  }

  cudaStream_t handle() const noexcept { return stream_; }

  /// What is queued from now on begins when the event's last mark is reached.
  void wait_for(const Event& event) {
    check(cudaStreamWaitEvent(stream_, event.handle(), 0), "ordering two streams");
  }

  /// Waits until all queued work is done, for `bound_s` at most. Throws what it has failed of.
  void synchronize(double bound_s = 60) const { cuda::wait_for(stream_, bound_s); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace feedrate::inline v0::cuda
