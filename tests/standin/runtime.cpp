// SPDX-License-Identifier: Apache-2.0
// The stand-in's calls about errors and the device, and the frame of all calls.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "state.hpp"

namespace standin {

State& the_state() {
  static State state;
  return state;
}

cudaError_t& last_error() {
  static thread_local cudaError_t last = cudaSuccess;
  return last;
}

bool stays(cudaError_t status) {
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

namespace {

/// Whether a planted failure is for this process: only for the first to ask, where one is to fail.
bool may_fail(const State& state) {
  if (state.fails_once.empty()) return true;
  std::FILE* file = std::fopen(state.fails_once.c_str(), "wx");
  if (file) std::fclose(file);
  return file != nullptr;
}

/// A failure that was planted for this call, or success.
cudaError_t planted(State& state, const char* name) {
  cudaError_t status = cudaSuccess;
  for (Failure& failure : state.failures) {
    if (failure.calls_left == 0 || (failure.name != "*" && failure.name != name)) continue;
    if (--failure.calls_left == 0 && may_fail(state)) status = failure.status;
  }
  return status;
}

/// Ends the recordings in which this thread may not make unsafe calls.
bool breaks_captures(State& state) {
  bool broke = false;
  for (const auto& capture : state.captures) {
    const bool forbids = capture->mode == cudaStreamCaptureModeGlobal ||
                         (capture->mode == cudaStreamCaptureModeThreadLocal &&
                          capture->thread == std::this_thread::get_id());
    if (forbids) broke = capture->broken = true;
  }
  return broke;
}

void log_call(const std::string& path, const char* name) {
  std::ofstream(path, std::ios::app) << ::getpid() << ' ' + std::string(name) + '\n';
}

}  // namespace

cudaError_t enter(State& state, const char* name, Duty duty) {
  ++state.counts.calls;
  if (++state.calls[name] == 1 && !state.log.empty()) log_call(state.log, name);
  if (state.lost) return state.lost;
  if (const cudaError_t status = planted(state, name)) {
    if (stays(status)) lose(state, status);
    return status;
  }
  if ((duty == Duty::unsafe || duty == Duty::releases) && breaks_captures(state)) {
    return cudaErrorStreamCaptureUnsupported;
  }
  return cudaSuccess;
}

}  // namespace standin

using standin::call;
using standin::Duty;
using standin::State;

namespace {

constexpr int shared_memory_bytes = 48 << 10;
constexpr int shared_memory_limit_bytes = 227 << 10;

}  // namespace

cudaError_t cudaPeekAtLastError() {
  State& state = standin::the_state();
  const std::lock_guard lock(state.mutex);
  return state.lost ? state.lost : standin::last_error();
}

cudaError_t cudaGetLastError() {
  const cudaError_t status = cudaPeekAtLastError();
  standin::last_error() = cudaSuccess;
  return status;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define FEEDRATE_STANDIN_NAME(name, number, words) \
  case name:                                       \
    return #name;
    FEEDRATE_STANDIN_ERRORS(FEEDRATE_STANDIN_NAME)
#undef FEEDRATE_STANDIN_NAME
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define FEEDRATE_STANDIN_WORDS(name, number, words) \
  case name:                                        \
    return words;
    FEEDRATE_STANDIN_ERRORS(FEEDRATE_STANDIN_WORDS)
#undef FEEDRATE_STANDIN_WORDS
  }
  return "unrecognized error code";
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", Duty::ordinary, [&](State&) {
    *count = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", Duty::ordinary,
              [&](State&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", Duty::ordinary, [&](State&) {
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call("cudaGetDeviceProperties", Duty::ordinary, [&](State& state) {
    if (device != 0) return cudaErrorInvalidDevice;
    *properties = {};
    std::strcpy(properties->name, "Stand-in GPU");
    for (int i = 0; i < 16; ++i) properties->uuid.bytes[i] = static_cast<char>(17 * i);
    properties->totalGlobalMem = state.memory_limit;
    properties->sharedMemPerBlock = shared_memory_bytes;
    properties->sharedMemPerBlockOptin = shared_memory_limit_bytes;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->major = 9;
    properties->multiProcessorCount = 4;
    properties->asyncEngineCount = 3;
    properties->memoryBusWidth = 64;
    properties->l2CacheSize = static_cast<int>(state.l2_bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call("cudaDeviceGetAttribute", Duty::ordinary, [&](State& state) {
    if (device != 0) return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevAttrMaxThreadsPerBlock:
        *value = 1024;
        break;
      case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = shared_memory_bytes;
        break;
      case cudaDevAttrClockRate:
        *value = 1000000;
        break;
      case cudaDevAttrMultiProcessorCount:
        *value = 4;
        break;
      case cudaDevAttrMemoryClockRate:
        *value = 1000000;
        break;
      case cudaDevAttrGlobalMemoryBusWidth:
        *value = 64;
        break;
      case cudaDevAttrL2CacheSize:
        *value = static_cast<int>(state.l2_bytes);
        break;
      case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = 2048;
        break;
      case cudaDevAttrAsyncEngineCount:
        *value = 3;
        break;
      case cudaDevAttrComputeCapabilityMajor:
        *value = 9;
        break;
      case cudaDevAttrComputeCapabilityMinor:
        *value = 0;
        break;
      case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = shared_memory_limit_bytes;
        break;
      default:
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call("cudaDeviceGetPCIBusId", Duty::ordinary, [&](State&) {
    if (device != 0) return cudaErrorInvalidDevice;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:00:00.0");
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", Duty::unsafe, [](State& state) {
    ++state.counts.host_blocking;
    drain_all(state);
    return cudaSuccess;
  });
}
