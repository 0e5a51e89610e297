// SPDX-License-Identifier: Apache-2.0
// The stand-in's copies and fills.
#include <cstring>

#include "state.hpp"

namespace standin {
namespace {

cudaMemcpyKind kind_of(State& state, const void* to, const void* from, std::size_t bytes) {
  const bool up = holds(state.device, to, bytes), down = holds(state.device, from, bytes);
  if (up) return down ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return down ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

/// What a copy's operation is, where nothing is staged.
Operation plain_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  Range host;
  if (kind == cudaMemcpyHostToDevice) host = {as_bytes(from), bytes};
  if (kind == cudaMemcpyDeviceToHost) host = {as_bytes(to), bytes};
  return {.awaited = {}, .run = [=] { std::memcpy(to, from, bytes); }, .mark = {}, .host = host};
}

/// A copy as the API synchronization notes of the runtime's reference say: from pinned memory the
/// bytes are read when the copy runs, from pageable memory at the call; into pageable memory the
/// call returns when all is done.
cudaError_t queue_copy(State& state, CUstream_st& stream, void* to, const void* from,
                       std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return cudaSuccess;
  const cudaMemcpyKind found = kind_of(state, to, from, bytes);
  if (kind != cudaMemcpyDefault && kind != found) return cudaErrorInvalidValue;
  ++state.counts.copies;
  state.counts.copied_bytes += bytes;
  const void* const host = found == cudaMemcpyHostToDevice ? from : to;
  const bool paged = found != cudaMemcpyDeviceToDevice && !holds(state.pinned, host, bytes);
  if (paged && stream.capture) {
    stream.capture->broken = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  if (found == cudaMemcpyHostToDevice && paged) {
    ++state.counts.host_blocking;
    auto staged = std::make_shared<std::vector<std::byte>>(as_bytes(from), as_bytes(from) + bytes);
    return append(
        state, stream,
        {.awaited = {}, .run = [=] { std::memcpy(to, staged->data(), bytes); }, .mark = {}});
  }
  const cudaError_t status = append(state, stream, plain_copy(to, from, bytes, found));
  const bool waits = (found == cudaMemcpyDeviceToHost && paged) || found == cudaMemcpyHostToHost;
  if (!waits || status) return status;
  ++state.counts.host_blocking;
  drain(state, stream);
  return cudaSuccess;
}

cudaError_t queue_set(State& state, CUstream_st& stream, void* data, int value, std::size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!holds(state.device, data, bytes)) return cudaErrorInvalidValue;
  return append(state, stream,
                {.awaited = {}, .run = [=] { std::memset(data, value, bytes); }, .mark = {}});
}

}  // namespace
}  // namespace standin

using namespace standin;

cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  return call("cudaMemset", Duty::unsafe, [&](State& state) {
    return queue_set(state, *state.default_stream, data, value, bytes);
  });
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  return call("cudaMemsetAsync", Duty::ordinary, [&](State& state) {
    const auto found = find_stream(state, stream);
    return found ? queue_set(state, *found, data, value, bytes) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call("cudaMemcpy", Duty::unsafe, [&](State& state) {
    const cudaError_t status = queue_copy(state, *state.default_stream, to, from, bytes, kind);
    if (status) return status;
    ++state.counts.host_blocking;
    drain(state, *state.default_stream);
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call("cudaMemcpyAsync", Duty::ordinary, [&](State& state) {
    const auto found = find_stream(state, stream);
    return found ? queue_copy(state, *found, to, from, bytes, kind)
                 : cudaErrorInvalidResourceHandle;
  });
}
