// SPDX-License-Identifier: Apache-2.0
// CUDA in this build: one interface, with and without a toolkit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "feedrate/card/gpu_ceilings.hpp"
#include "feedrate/measure/async_device.hpp"
#include "feedrate/train/model.hpp"
#include "feedrate/train/optimizer.hpp"

namespace feedrate {

/// Whether this build can train on a GPU.
bool built_with_cuda();

/// What trains on a GPU.
struct GpuTraining {
  std::string uuid;  ///< of the GPU, as nvidia-smi writes it
  ModelSpec model;
  OptimizerSpec optimizer;
  std::string field;  ///< of a batch, that the model reads, beside "label"
  std::uint64_t seed = 0;
};

/// Uploads batches to a GPU and trains on them. Throws Error(device) where the GPU can't be used,
/// and in a build without CUDA.
std::shared_ptr<AsyncDevice> train_on_gpu(const GpuTraining& training);

/// Bytes of a GPU's memory that are free.
std::uint64_t gpu_free_bytes(const std::string& uuid);

/// Measures the GPU's ceilings within some two seconds.
GpuCeilings measure_gpu(const std::string& uuid);

}  // namespace feedrate
