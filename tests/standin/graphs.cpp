// SPDX-License-Identifier: Apache-2.0
// The stand-in's graphs: lists of recorded work.
#include <utility>

#include "state.hpp"

using namespace standin;

namespace {

template <class Map, class Handle>
cudaError_t destroy(Map& map, Handle handle) {
  return map.erase(handle) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

template <class Made, class Map>
auto keep(Map& map, std::shared_ptr<const std::vector<Operation>> recorded) {
  auto made = std::make_unique<Made>(Made{std::move(recorded)});
  auto* const handle = made.get();
  map.emplace(handle, std::move(made));
  return handle;
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call("cudaStreamBeginCapture", Duty::ordinary, [&](State& state) {
    const auto found = stream ? find_stream(state, stream) : nullptr;
    // The default stream can't be recorded.
    if (!found) return cudaErrorStreamCaptureUnsupported;
    if (found->capture) return cudaErrorIllegalState;
    found->capture = std::make_shared<Capture>();
    found->capture->mode = mode;
    found->capture->thread = std::this_thread::get_id();
    state.captures.insert(found->capture);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call("cudaStreamEndCapture", Duty::keeps, [&](State& state) {
    *graph = nullptr;
    const auto found = find_stream(state, stream);
    if (!found || !found->capture) return cudaErrorIllegalState;
    const bool elsewhere = found->capture->mode != cudaStreamCaptureModeRelaxed &&
                           found->capture->thread != std::this_thread::get_id();
    if (elsewhere) return cudaErrorStreamCaptureWrongThread;
    const auto capture = std::exchange(found->capture, nullptr);
    state.captures.erase(capture);
    if (capture->broken) return cudaErrorStreamCaptureInvalidated;
    *graph = keep<CUgraph_st>(
        state.graphs, std::make_shared<std::vector<Operation>>(std::move(capture->recorded)));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call("cudaStreamIsCapturing", Duty::ordinary, [&](State& state) {
    const auto found = find_stream(state, stream);
    if (!found) return cudaErrorInvalidResourceHandle;
    *status = !found->capture          ? cudaStreamCaptureStatusNone
              : found->capture->broken ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call("cudaGraphInstantiate", Duty::ordinary, [&](State& state) {
    *exec = nullptr;
    const auto found = state.graphs.find(graph);
    if (found == state.graphs.end()) return cudaErrorInvalidValue;
    *exec = keep<CUgraphExec_st>(state.execs, found->second->recorded);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphLaunch", Duty::ordinary, [&](State& state) {
    const auto found = state.execs.find(exec);
    const auto queue = find_stream(state, stream);
    if (found == state.execs.end() || !queue) return cudaErrorInvalidValue;
    if (!queue->capture) ++state.counts.launches;
    for (const Operation& operation : *found->second->recorded) {
      if (const cudaError_t status = append(state, *queue, operation)) return status;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call("cudaGraphDestroy", Duty::keeps,
              [&](State& state) { return destroy(state.graphs, graph); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call("cudaGraphExecDestroy", Duty::keeps,
              [&](State& state) { return destroy(state.execs, exec); });
}
