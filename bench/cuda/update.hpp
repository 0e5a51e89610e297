// SPDX-License-Identifier: Apache-2.0
// Adam's update as a step queues it, compiled by nvcc in a separate file.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "feedrate/core/half.hpp"
#include "feedrate/train/kernels/step_state.hpp"
#include "feedrate/train/optimizer.hpp"

namespace feedrate::bench {

/// Device memory of `count` elements each, and one state.
struct AdamArrays {
  const StepState* state = nullptr;
  float* values = nullptr;
  BFloat16* copy = nullptr;  ///< rounded values; null: none are wanted
  const float* gradient = nullptr;
  float* mean = nullptr;
  float* square = nullptr;
  std::size_t count = 0;
};

void queue_adam(const OptimizerSpec& spec, const AdamArrays& arrays, cudaStream_t stream);

}  // namespace feedrate::bench
