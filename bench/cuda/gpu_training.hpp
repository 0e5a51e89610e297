// SPDX-License-Identifier: Apache-2.0
// A GPU step with a batch of random samples on the GPU, checked against the CPU step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../models.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/train/step.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/train/cpu/make_step.hpp"
#include "gpu_bench.hpp"

namespace feedrate::bench {

/// What is trained how.
struct Work {
  ModelSpec model;
  OptimizerSpec optimizer = sgd(0.01f, 0.9f);
  Precision precision = Precision::fp32;
  std::size_t batch = 128;
  bool graph = true;
};

class GpuTraining {
 public:
  GpuTraining(Work work, cudaStream_t stream)
      : work_(std::move(work)),
        step_(cuda::make_cuda_step(work_.model, work_.optimizer, work_.precision, work_.batch,
                                   stream, seed, {.graph = work_.graph})),
        samples_(work_.batch * work_.model.input.elements()),
        labels_(work_.batch),
        device_samples_(samples_.size() * sizeof(float)),
        device_labels_(labels_.size() * sizeof(std::int32_t)) {
    Random random(1, 0, 0);
    for (float& x : samples_) x = random.uniform();
    const auto classes = static_cast<std::uint32_t>(classes_of(work_.model));
    for (auto& label : labels_) label = static_cast<std::int32_t>(random.below(classes));
    upload(device_samples_, samples_);
    upload(device_labels_, labels_);
    check();
    seconds_per_step(10);  // a graph is recorded, and clocks rise
  }

  double seconds_per_step(int steps) {
    const double start_s = SteadyClock{}.now_s();
    for (int i = 0; i < steps; ++i) run(work_.batch);
    step_->synchronize();
    return (SteadyClock{}.now_s() - start_s) / steps;
  }

  double flops_per_step() const {
    return step_->flops_per_sample() * static_cast<double>(work_.batch);
  }

 private:
  static constexpr std::uint64_t seed = 1;

  template <class T>
  static void upload(const cuda::DeviceMemory& to, const std::vector<T>& from) {
    write(to.data(), from.data(), to.bytes());
  }

  TensorView samples(const void* data, std::size_t count) const {
    std::vector<std::size_t> extents{count};
    for (std::size_t extent : work_.model.input.extents()) extents.push_back(extent);
    return {const_cast<void*>(data), DType::f32, Shape(extents)};
  }

  void run(std::size_t count) {
    const auto* labels = reinterpret_cast<const std::int32_t*>(device_labels_.data());
    step_->run(samples(device_samples_.data(), count), {labels, count});
  }

  /// The losses of two steps are those of the CPU, the second behind an update.
  void check() {
    // A whole batch runs as it is timed: as a graph, by the products of its size.
    const std::size_t count = std::min<std::size_t>(256, work_.batch);
    const auto cpu = make_step(work_.model, work_.optimizer, Precision::fp32, count,
                               read_limits().cpus.usable, seed);
    std::vector<float> parameters(cpu->parameter_count());
    step_->save(parameters);
    cpu->load(parameters);
    for (double bound : {loss_bound(), 10 * loss_bound()}) {
      run(count);
      cpu->run(samples(samples_.data(), count), std::span(labels_).first(count));
      const double ours = step_->loss(), wanted = cpu->loss();
      require(std::abs(ours - wanted) <= bound * wanted,
              work_.model.name + " in " + std::string(name_of(work_.precision)) +
                  " has a loss of " + std::to_string(ours) + ", the CPU has " +
                  std::to_string(wanted) + ".");
    }
  }

  double loss_bound() const noexcept {
    if (work_.precision == Precision::fp32) return 1e-5;
    return work_.precision == Precision::tf32 ? 1e-3 : 1e-2;
  }

  Work work_;
  std::unique_ptr<AnyStep> step_;
  std::vector<float> samples_;
  std::vector<std::int32_t> labels_;
  cuda::DeviceMemory device_samples_, device_labels_;
};

}  // namespace feedrate::bench
