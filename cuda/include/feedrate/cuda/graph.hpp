// SPDX-License-Identifier: Apache-2.0
// A graph: work that is recorded once and launched with one call.
#pragma once

#include <utility>

#include "feedrate/cuda/check.hpp"

namespace feedrate::inline v0::cuda {

/// Recorded work. Addresses and arguments are those of the recording.
class Graph {
 public:
  Graph() = default;
  Graph(Graph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }
  ~Graph() {
    if (graph_) cudaGraphExecDestroy(graph_);
  }

  /// Records what `queue()` puts into `stream`, without running it. Nothing that allocates or
  /// waits may be called there. Throws what `queue` throws.
  template <class Queue>
  static Graph record(cudaStream_t stream, Queue&& queue) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
    cudaGraph_t recorded = nullptr;
    try {
      queue();
    } catch (...) {
      cudaStreamEndCapture(stream, &recorded);
      if (recorded) cudaGraphDestroy(recorded);
      cudaGetLastError();
      throw;
    }
    check(cudaStreamEndCapture(stream, &recorded), "recording a graph");
    Graph graph;
    const cudaError_t status = cudaGraphInstantiate(&graph.graph_, recorded, 0);
    cudaGraphDestroy(recorded);
    check(status, "preparing a graph");
    return graph;
  }

  explicit operator bool() const noexcept { return graph_ != nullptr; }

  void launch(cudaStream_t stream) const {
    check(cudaGraphLaunch(graph_, stream), "launching a graph");
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace feedrate::inline v0::cuda
