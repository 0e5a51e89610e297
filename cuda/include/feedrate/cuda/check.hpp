// SPDX-License-Identifier: Apache-2.0
// Turns a failed call of the CUDA runtime into an exception with a sentence.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "feedrate/core/error.hpp"

namespace feedrate::inline v0::cuda {

/// The context is broken: every further call in this process fails.
using feedrate::DeviceLost;
using feedrate::OutOfMemory;

namespace detail {

/// True from the first wait on that ran out of time. Then nothing of the device is freed any more:
/// that waits for the device, without a bound, and the end of the process frees it all.
inline std::atomic<bool> device_hangs{false};

/// True for errors that stay: the process must end before the device can be used again. Source:
/// the descriptions of cudaError_t in the CUDA runtime API reference.
inline bool is_sticky(cudaError_t status) noexcept {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorUnknown:
#if CUDART_VERSION >= 13000
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
#endif
      return true;
    default:
      return false;
  }
}

inline bool is_missing_device(cudaError_t status) noexcept {
  return status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
         status == cudaErrorInitializationError || status == cudaErrorSystemNotReady ||
         status == cudaErrorDevicesUnavailable || status == cudaErrorCompatNotSupportedOnDevice;
}

[[noreturn]] inline void refuse(cudaError_t status, const char* what) {
  cudaGetLastError();  // a failed allocation must not be found again by the next check
  const std::string why = std::string(what) + ": " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) {
    throw OutOfMemory("The GPU's memory does not suffice (" + why +
                      "): choose a smaller batch or model.");
  }
  if (is_sticky(status))
    throw DeviceLost("The GPU was lost (" + why + "): see nvidia-smi and dmesg.");
  if (is_missing_device(status)) {
    throw Error(Fault::device,
                "No GPU can be used (" + why + "): see nvidia-smi, or choose --device cpu.");
  }
  if (status == cudaErrorNoKernelImageForDevice) {
    throw Error(Fault::device, "This program was built for other GPUs (" + why +
                                   "): build it on this machine, or with -Dgpu_arch.");
  }
  throw Error(Fault::device, "The GPU refused (" + why + ").");
}

}  // namespace detail

/// Throws unless a call of the runtime succeeded: OutOfMemory, DeviceLost, or another
/// Error(device). `what` says in a few words what was being done.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) detail::refuse(status, what);
}

}  // namespace feedrate::inline v0::cuda
