// SPDX-License-Identifier: Apache-2.0
// Chooses the step by its precision.
#include <memory>

#include "feedrate/core/half.hpp"
#include "feedrate/cuda/train/largest_batch.hpp"
#include "feedrate/cuda/train/step_factory.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0::cuda {

namespace {

Operands operands_of(Precision precision) {
  switch (precision) {
    case Precision::tf32:
      return Operands::tf32;
    case Precision::fp16:
      return Operands::f16;
    case Precision::bf16:
      return Operands::bf16;
    case Precision::fp32:
      break;
  }
  return Operands::f32;
}

}  // namespace

std::unique_ptr<AnyStep> make_cuda_step(const ModelSpec& model, const OptimizerSpec& optimizer,
                                        Precision precision, std::size_t batch, cudaStream_t stream,
                                        std::uint64_t seed, const StepOptions& options) {
  const auto make = [&]<class Storage>(Storage) -> std::unique_ptr<AnyStep> {
    return StepFactory<Storage>::make(model, optimizer, operands_of(precision), batch, stream, seed,
                                      options);
  };
  if (precision == Precision::bf16) return make(BFloat16());
  if (precision == Precision::fp16) return make(Float16());
  return make(0.0f);
}

std::size_t cuda_step_bytes(const ModelSpec& model, const OptimizerSpec& optimizer,
                            Precision precision, std::size_t batch) {
  if (precision == Precision::bf16) return StepFactory<BFloat16>::bytes_of(model, optimizer, batch);
  if (precision == Precision::fp16) return StepFactory<Float16>::bytes_of(model, optimizer, batch);
  return StepFactory<float>::bytes_of(model, optimizer, batch);
}

std::size_t largest_cuda_batch(const ModelSpec& model) {
  return largest_batch(plan_of(model));
}

}  // namespace feedrate::inline v0::cuda
