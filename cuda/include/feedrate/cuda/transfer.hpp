// SPDX-License-Identifier: Apache-2.0
// Small copies with a bounded wait: parameters and scalars of a step.
#pragma once

#include <cstddef>

#include "feedrate/cuda/check.hpp"
#include "feedrate/cuda/stream.hpp"

namespace feedrate::inline v0::cuda {

/// Thousands of steps may be queued before a small copy.
inline constexpr double longest_queue_s = 600;

/// Copies `count` elements from the GPU when all that is queued is done.
template <class T>
void read_from(cudaStream_t stream, const T* from, T* to, std::size_t count) {
  wait_for(stream,
           longest_queue_s);  // a copy to pageable memory would wait, too, but without a bound
  check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream),
        "reading from the GPU");
  wait_for(stream, longest_queue_s);
}

/// Copies `count` elements to the GPU behind all that is queued, and waits for it.
template <class T>
void write_to(cudaStream_t stream, T* to, const T* from, std::size_t count) {
  check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, stream),
        "writing to the GPU");
  wait_for(stream, longest_queue_s);
}

}  // namespace feedrate::inline v0::cuda
