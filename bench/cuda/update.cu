// SPDX-License-Identifier: Apache-2.0
// The kernel of update.cpp: the update of a step.
#include "update.hpp"

#include "feedrate/cuda/launch.cuh"
#include "feedrate/train/kernels/update.hpp"

namespace feedrate::bench {
namespace {

template <class Storage>
void queue(const OptimizerSpec& spec, const AdamArrays& a, Storage* copy, cudaStream_t stream) {
  cuda::for_each(stream, a.count,
                 Update<Storage, 2>{spec, a.state, a.values, copy, a.gradient, a.mean, a.square});
}

}  // namespace

void queue_adam(const OptimizerSpec& spec, const AdamArrays& arrays, cudaStream_t stream) {
  if (arrays.copy) return queue(spec, arrays, arrays.copy, stream);
  queue(spec, arrays, static_cast<float*>(nullptr), stream);
}

}  // namespace feedrate::bench
