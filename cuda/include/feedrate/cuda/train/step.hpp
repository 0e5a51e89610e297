// SPDX-License-Identifier: Apache-2.0
// A training step on the current GPU. Plain C++: users of this header need no nvcc.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "feedrate/core/config.hpp"
#include "feedrate/train/kernels/preprocess.hpp"
#include "feedrate/train/model.hpp"
#include "feedrate/train/optimizer.hpp"
#include "feedrate/train/step.hpp"

namespace feedrate::inline v0::cuda {

struct StepOptions {
  /// A full batch is one recorded graph: one launch instead of dozens. A smaller one is launched
  /// kernel by kernel. Needs a stream other than the default one.
  bool graph = false;
  float clip_norm = 0;             ///< gradients longer than this are shortened to it; 0: none
  float first_loss_scale = 65536;  ///< fp16 only; halved at each overflow
  PreprocessSpec preprocess = {};
};

/// A step on the current GPU for batches of up to `batch` samples. `input` and `labels` of its
/// run() are device memory; all work is queued on `stream`, and run() waits for nothing. They may
/// be overwritten by work that follows in the stream.
///
/// fp32 and tf32 store floats; bf16 and fp16 store activations and their gradients in 16 bits, and
/// master weights, their gradients and the optimizer's state as floats. fp16 scales the loss: an
/// update whose gradient overflows is left out, and the scale halved. A wrong label is told by
/// loss() and synchronize(), which throw Error(data); until then no update is done.
///
/// Throws Error(usage) if model or optimizer are invalid, OutOfMemory where the GPU has too
/// little memory, and another Error(device) where it has failed.
std::unique_ptr<AnyStep> make_cuda_step(const ModelSpec& model, const OptimizerSpec& optimizer,
                                        Precision precision, std::size_t batch, cudaStream_t stream,
                                        std::uint64_t seed = 0, const StepOptions& options = {});

/// Bytes of device memory that such a step will take on the current GPU, without taking them; makes
/// no context there. Throws Error(usage) likewise.
std::size_t cuda_step_bytes(const ModelSpec& model, const OptimizerSpec& optimizer,
                            Precision precision, std::size_t batch);

/// Samples of the largest batch that a step on this model takes, whatever the precision and the
/// memory; needs no GPU.
std::size_t largest_cuda_batch(const ModelSpec& model);

/// Floating-point operations per second of large matrix products on the current GPU: the ceiling
/// of any step. Takes about `seconds`, and up to a second more to choose an algorithm; throws
/// OutOfMemory without 800 MiB.
double product_flops_per_s(Precision precision, cudaStream_t stream, double seconds);

}  // namespace feedrate::inline v0::cuda
