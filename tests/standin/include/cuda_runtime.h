// SPDX-License-Identifier: Apache-2.0
// Stand-in for the CUDA runtime, for tests: the subset that the library uses, with the names, types
// and signatures of the real header. What it promises, and its controls: standin.hpp.
#pragma once

#include <cstddef>
#include <functional>

// Number and words of each error, as in the runtime API reference.
#define CUDART_VERSION 13000

#define FEEDRATE_STANDIN_ERRORS(X)                                                      \
  X(cudaSuccess, 0, "no error")                                                         \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                       \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                      \
  X(cudaErrorInitializationError, 3, "initialization error")                            \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                 \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                        \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")           \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient")             \
  X(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy")              \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                      \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                       \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                              \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available")               \
  X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")              \
  X(cudaErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error detected")           \
  X(cudaErrorContained, 226, "contained error")                                         \
  X(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported")         \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                     \
  X(cudaErrorIllegalState, 401, "the operation cannot be performed in this state")      \
  X(cudaErrorNotReady, 600, "device not ready")                                         \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")           \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")      \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")             \
  X(cudaErrorContextIsDestroyed, 709, "context is destroyed")                           \
  X(cudaErrorAssert, 710, "device-side assert triggered")                               \
  X(cudaErrorHostMemoryAlreadyRegistered, 712, "part of the range is registered")       \
  X(cudaErrorHostMemoryNotRegistered, 713, "the memory has not been registered")        \
  X(cudaErrorHardwareStackError, 714, "hardware stack error")                           \
  X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")         \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                              \
  X(cudaErrorInvalidAddressSpace, 717, "operation not supported on this address space") \
  X(cudaErrorInvalidPc, 718, "invalid program counter")                                 \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                          \
  X(cudaErrorTensorMemoryLeak, 721, "tensor memory was not completely freed")           \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                              \
  X(cudaErrorNotSupported, 801, "operation not supported")                              \
  X(cudaErrorSystemNotReady, 802, "system not yet initialized")                         \
  X(cudaErrorSystemDriverMismatch, 803, "driver and library versions do not match")     \
  X(cudaErrorCompatNotSupportedOnDevice, 804, "forward compatibility is not supported") \
  X(cudaErrorStreamCaptureUnsupported, 900, "not permitted when stream is capturing")   \
  X(cudaErrorStreamCaptureInvalidated, 901, "failed due to a previous capture error")   \
  X(cudaErrorStreamCaptureUnmatched, 903, "operation not part of this capture")         \
  X(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work")      \
  X(cudaErrorStreamCaptureImplicit, 906, "would depend on the capturing stream")        \
  X(cudaErrorCapturedEvent, 907, "not permitted on an event last recorded in capture")  \
  X(cudaErrorStreamCaptureWrongThread, 908, "capture begun by another thread")          \
  X(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define FEEDRATE_STANDIN_ENUMERATOR(name, number, words) name = number,
  FEEDRATE_STANDIN_ERRORS(FEEDRATE_STANDIN_ENUMERATOR)
#undef FEEDRATE_STANDIN_ENUMERATOR
};
using cudaError_t = cudaError;

struct CUuuid_st {
  char bytes[16];
};
using cudaUUID_t = CUuuid_st;
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault,
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed,
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated,
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrClockRate = 13,  // kHz
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMemoryClockRate = 36,  // kHz
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};

struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int major;
  int minor;
  int multiProcessorCount;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int asyncEngineCount;
  int memoryBusWidth;
  int l2CacheSize;
  int maxThreadsPerMultiProcessor;
  std::size_t sharedMemPerBlockOptin;
};

constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                   cudaHostAllocWriteCombined = 4;
constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1,
                   cudaHostRegisterMapped = 2, cudaHostRegisterReadOnly = 8;
constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);

cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceSynchronize();

cudaError_t cudaMalloc(void** data, std::size_t bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes);
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags);
cudaError_t cudaMallocHost(void** data, std::size_t bytes);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* data);
cudaError_t cudaMemset(void* data, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream = 0);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = 0);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

// The typed forms that the real header has for C++.
template <class T>
cudaError_t cudaMalloc(T** data, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(data), bytes);
}
template <class T>
cudaError_t cudaHostAlloc(T** data, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(data), bytes, flags);
}
template <class T>
cudaError_t cudaMallocHost(T** data, std::size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(data), bytes);
}

namespace standin {

/// Puts work of the device into a stream, as a launch of a kernel does. It may not call the
/// runtime; when it throws, the device is lost. A status other than success is the last error, too.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

}  // namespace standin
