// SPDX-License-Identifier: Apache-2.0
// Memory of the device: one block, and an arena that hands it out.
#pragma once

#include <cstddef>
#include <utility>

#include "feedrate/cuda/check.hpp"

namespace feedrate::inline v0::cuda {

/// Owned memory of the device that was current when it was made, aligned to 256 bytes.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws OutOfMemory. The content is not defined.
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* data = nullptr;
    check(cudaMalloc(&data, bytes), "taking memory of the GPU");
    data_ = static_cast<std::byte*>(data);
  }
  DeviceMemory(DeviceMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceMemory() {
    if (data_ && !detail::device_hangs) cudaFree(data_);
  }

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Carves arrays out of one block, by the same code twice: first to measure it, then to hand it
/// out. `take` returns null until `allocate` was called.
class DeviceArena {
 public:
  static constexpr std::size_t alignment = 256;

  template <class T>
  T* take(std::size_t count) noexcept {
    T* const here = memory_.data() ? reinterpret_cast<T*>(memory_.data() + used_) : nullptr;
    used_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return here;
  }

  /// Gets what has been taken so far, zeroed by work on `stream`, and starts again at its
  /// beginning. Throws OutOfMemory.
  void allocate(cudaStream_t stream) {
    memory_ = DeviceMemory(used_);
    check(cudaMemsetAsync(memory_.data(), 0, used_, stream), "clearing memory of the GPU");
    used_ = 0;
  }

  std::size_t bytes() const noexcept { return used_; }

 private:
  DeviceMemory memory_;
  std::size_t used_ = 0;
};

/// Bytes of the current device's memory.
struct MemoryState {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

inline MemoryState memory_state() {
  MemoryState state;
  check(cudaMemGetInfo(&state.free_bytes, &state.total_bytes), "asking for the GPU's memory");
  return state;
}

}  // namespace feedrate::inline v0::cuda
