// SPDX-License-Identifier: Apache-2.0
// Devices: their properties by the CUDA runtime, and the choice of one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

#include "feedrate/cuda/check.hpp"

namespace feedrate::inline v0::cuda {

/// One GPU as the runtime sees it.
struct Device {
  int index = 0;  ///< in the runtime's order, which CUDA_VISIBLE_DEVICES may change
  std::string name;
  std::string uuid;  ///< "GPU-5fc0...", as nvidia-smi writes it
  int capability_major = 0, capability_minor = 0;
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

/// Number of devices; throws Error(device), with a sentence, where there is none or the driver is
/// too old.
inline int device_count() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "counting GPUs");
  return count;
}

namespace detail {

inline std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += hex.data();
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

/// Whether a UUID of NVML's means this device, one of `count`. Of an instance that MIG made, the
/// runtime tells the number behind "MIG-" or that of its GPU, by version; and it shows one alone.
inline bool is_named(const Device& device, const std::string& uuid, int count) {
  if (!uuid.starts_with("MIG-")) return device.uuid == uuid;
  return count == 1 || device.uuid.substr(4) == uuid.substr(4);
}

}  // namespace detail

/// What device `index` is. Makes no context.
inline Device describe_device(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "asking what a GPU is");
  return {index,
          properties.name,
          detail::uuid_text(properties.uuid),
          properties.major,
          properties.minor,
          properties.multiProcessorCount,
          properties.totalGlobalMem};
}

/// Bytes per second of a device's memory at best: twice its clock times the width of its bus. A
/// guess where the driver tells neither.
inline double memory_bytes_per_s(int index) {
  int clock_khz = 0, bus_bits = 0;
  check(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, index),
        "asking for a clock");
  check(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, index),
        "asking for a bus");
  const double told = 2e3 * clock_khz * bus_bits / 8;
  constexpr double guess = 1e12;
  return told > 0 ? told : guess;
}

/// The calling thread's device.
inline int current_device() {
  int index = 0;
  check(cudaGetDevice(&index), "asking for the current GPU");
  return index;
}

/// Bytes of the current device's L2 cache. A guess where the driver tells none: a T4 has as many,
/// by NVIDIA's white paper on Turing.
inline std::size_t l2_bytes() {
  int told = 0;
  check(cudaDeviceGetAttribute(&told, cudaDevAttrL2CacheSize, current_device()),
        "asking for a cache");
  constexpr std::size_t guess = std::size_t{4} << 20;
  return told > 0 ? static_cast<std::size_t>(told) : guess;
}

/// The device of this UUID, as nvidia-smi writes it; throws Error(device) where it is not visible.
inline Device find_device(const std::string& uuid) {
  const int count = device_count();
  for (int index = 0; index < count; ++index) {
    Device device = describe_device(index);
    if (detail::is_named(device, uuid, count)) return device;
  }
  throw Error(Fault::device,
              "The GPU " + uuid + " is hidden from this process: see CUDA_VISIBLE_DEVICES.");
}

/// Makes device `index` the calling thread's.
inline void use_device(int index) {
  check(cudaSetDevice(index), "choosing a GPU");
}

/// Makes device `index` the calling thread's for its own lifetime.
class OnDevice {
 public:
  explicit OnDevice(int index) : before_(current_device()), moves_(index != before_) {
    if (moves_) use_device(index);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (moves_ && cudaSetDevice(before_) != cudaSuccess) cudaGetLastError();
  }

 private:
  int before_;
  bool moves_;
};

}  // namespace feedrate::inline v0::cuda
