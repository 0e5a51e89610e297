// SPDX-License-Identifier: Apache-2.0
// Steps on the GPU and batches in its memory, for tests.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../train/toys.hpp"
#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/stream.hpp"
#include "feedrate/cuda/train/step.hpp"
#include "feedrate/measure/statistics.hpp"
#include "feedrate/train/cpu/cpu_step.hpp"

namespace feedrate::test {

/// A copy of a batch in the memory of the GPU.
class DeviceBatch {
 public:
  DeviceBatch(const TensorView& input, std::span<const std::int32_t> labels, cudaStream_t stream)
      : shape_(input.shape),
        dtype_(input.dtype),
        count_(labels.size()),
        input_(input.bytes()),
        labels_(labels.size_bytes()) {
    put(input_, input.data, stream);
    put(labels_, labels.data(), stream);
    cuda::wait_for(stream);
  }
  DeviceBatch(ToyBatch& batch, cudaStream_t stream)
      : DeviceBatch(batch.view(), batch.labels, stream) {}

  TensorView view() const { return {input_.data(), dtype_, shape_}; }
  std::span<const std::int32_t> labels() const {
    return {reinterpret_cast<const std::int32_t*>(labels_.data()), count_};
  }

 private:
  static void put(const cuda::DeviceMemory& to, const void* from, cudaStream_t stream) {
    cuda::check(cudaMemcpyAsync(to.data(), from, to.bytes(), cudaMemcpyHostToDevice, stream),
                "copying a batch");
  }

  Shape shape_;
  DType dtype_;
  std::size_t count_;
  cuda::DeviceMemory input_, labels_;
};

/// A step on a stream of its own.
struct StreamStep {
  cuda::Stream stream;
  std::unique_ptr<AnyStep> step;

  StreamStep(const ModelSpec& model, const OptimizerSpec& optimizer, Precision precision,
             std::size_t batch, const cuda::StepOptions& options = {}, std::uint64_t seed = 3)
      : step(cuda::make_cuda_step(model, optimizer, precision, batch, stream.handle(), seed,
                                  options)) {}

  void run(const DeviceBatch& batch) { step->run(batch.view(), batch.labels()); }
  /// Copies the batch to the GPU first, and waits until it was used.
  void run(ToyBatch& batch) {
    const DeviceBatch there(batch, stream.handle());
    run(there);
    step->synchronize();
  }
  std::vector<float> parameters() { return saved(*step); }
};

/// What one step at a rate of 1 takes off the parameters: the gradient.
inline std::vector<float> moved(std::vector<float> before, const std::vector<float>& after) {
  for (std::size_t i = 0; i < after.size(); ++i) before[i] -= after[i];
  return before;
}

/// How far the gradients of the first step on some samples lie apart on the CPU and the GPU,
/// relatively.
inline double gradient_distance_on(ToyBatch samples, const ModelSpec& model, Precision precision,
                                   std::size_t batch) {
  if (samples.labels.size() > 2) samples.labels[1] = -1;
  CpuStep<float> cpu(model, sgd(1.0f), batch, 1, 3);
  StreamStep gpu(model, sgd(1.0f), precision, batch);
  const std::vector<float> start = saved(cpu);
  REQUIRE(gpu.parameters() == start);
  cpu.run(samples.view(), samples.labels);
  gpu.run(samples);
  REQUIRE(std::abs(gpu.step->loss() / cpu.loss() - 1) < 1e-2);
  return distance(moved(start, gpu.parameters()), moved(start, saved(cpu)));
}

/// The median of so many draws of samples. Of a single draw it says little: one activation of a
/// few hundred that rounding carries over zero, or to another element of its window, moves the
/// gradient by a tenth, in every tenth draw of bf16.
inline double gradient_distance(const ModelSpec& model, Precision precision, std::size_t batch,
                                std::size_t count, int draws = 1) {
  std::vector<double> distances;
  for (int draw = 1; draw <= draws; ++draw) {
    ToyBatch samples(model, count, static_cast<std::uint64_t>(draw));
    distances.push_back(gradient_distance_on(std::move(samples), model, precision, batch));
  }
  return median(std::move(distances));
}

/// For toys: three times the largest median of 200 draws on the stand-in.
inline double gradient_bound_of(Precision precision) {
  if (precision == Precision::fp32) return 2e-5;
  return precision == Precision::bf16 ? 4e-2 : 2e-3;
}

/// For models with so many activations that rounding always carries some over zero.
inline double zoo_gradient_bound_of(Precision precision) {
  if (precision == Precision::fp32) return 3e-5;
  return precision == Precision::tf32 ? 5e-2 : 0.12;
}

inline constexpr Precision precisions[] = {Precision::fp32, Precision::tf32, Precision::fp16,
                                           Precision::bf16};

/// The parameters after some batches of changing sizes, without a wait between them.
inline std::vector<float> after_some(Precision precision, const OptimizerSpec& optimizer,
                                     const cuda::StepOptions& options) {
  StreamStep gpu(toy_cnn(), optimizer, precision, 6, options);
  std::vector<DeviceBatch> batches;
  for (std::size_t i = 0; i < 4; ++i) {
    ToyBatch batch(toy_cnn(), i == 3 ? 4 : 6, i);
    batches.emplace_back(batch, gpu.stream.handle());
  }
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (const DeviceBatch& batch : batches) gpu.run(batch);
  }
  return gpu.parameters();
}

}  // namespace feedrate::test
