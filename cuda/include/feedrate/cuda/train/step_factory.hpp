// SPDX-License-Identifier: Apache-2.0
// Makes the step of one storage type, compiled in a separate file.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "feedrate/cuda/train/product.hpp"
#include "feedrate/cuda/train/step.hpp"

namespace feedrate::inline v0::cuda {

/// `Storage` is float, BFloat16 or Float16; both as make_cuda_step and cuda_step_bytes.
template <class Storage>
struct StepFactory {
  static std::unique_ptr<AnyStep> make(const ModelSpec& model, const OptimizerSpec& optimizer,
                                       Operands operands, std::size_t batch, cudaStream_t stream,
                                       std::uint64_t seed, const StepOptions& options);
  static std::size_t bytes_of(const ModelSpec& model, const OptimizerSpec& optimizer,
                              std::size_t batch);
};

}  // namespace feedrate::inline v0::cuda
