// SPDX-License-Identifier: Apache-2.0
// A training step on the CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/tensor.hpp"
#include "feedrate/train/arena.hpp"
#include "feedrate/train/check_batch.hpp"
#include "feedrate/train/cost.hpp"
#include "feedrate/train/cpu/blas.hpp"
#include "feedrate/train/cpu/cpu_worker.hpp"
#include "feedrate/train/cpu/parameters.hpp"
#include "feedrate/train/cpu/pool.hpp"
#include "feedrate/train/kernels/loss.hpp"
#include "feedrate/train/optimizer.hpp"
#include "feedrate/train/plan.hpp"
#include "feedrate/train/step.hpp"

namespace feedrate::inline v0 {

/// Trains a model with activations and operands of products stored as `Storage` (float or
/// BFloat16), everything else in float. Each thread takes a contiguous share of the batch; their
/// gradients are summed in order, so results depend on the number of threads but not on luck.
/// All memory is allocated by the constructor. From then on the BLAS of the process works in one
/// thread.
template <class Storage>
class CpuStep final : public AnyStep {
 public:
  /// Throws Error(usage) if model or optimizer are invalid, and OutOfMemory where the machine
  /// lacks it.
  CpuStep(const ModelSpec& model, const OptimizerSpec& optimizer, std::size_t batch, int threads,
          std::uint64_t seed = 0)
      : sample_(model.input),
        blocks_(plan_of(model)),
        batch_(batch),
        accumulate_(optimizer.accumulate),
        classes_(classes_of(model)),
        flops_(cost_of(model).step_flops),
        pool_(checked(batch, threads)) {
    require_sane(optimizer);
    use_one_blas_thread();
    carve(optimizer);
    arena_.allocate();
    carve(optimizer);
    initialise(blocks_, seed, parameters_.values());
    parameters_.round(0, parameter_count());
  }

  /// `input` is f32, or u8 which is scaled to 0 to 1, of shape [count, ...sample shape].
  void run(const TensorView& input, std::span<const std::int32_t> labels) override {
    require_batch(input, sample_, labels.size(), batch_);
    const std::size_t counted = count_labels(labels, classes_);
    train(input, labels, counted);
    average_loss(counted);
    if (++batches_ == accumulate_) update();
  }

  /// Bytes that such a step will hold, without taking them. Throws Error(usage) as the constructor.
  static std::size_t bytes_of(const ModelSpec& model, const OptimizerSpec& optimizer,
                              std::size_t batch, int threads) {
    const auto parts = static_cast<std::size_t>(checked(batch, threads));
    const std::vector<Block> blocks = plan_of(model);
    Arena arena;
    Parameters<Storage>().carve(arena, parameters_of(blocks), parts, optimizer);
    CpuWorker<Storage> worker;
    const std::size_t chunk = chunk_of(blocks, batch, parts);
    for (std::size_t part = 0; part < parts; ++part) worker.carve(arena, blocks, chunk);
    return arena.bytes();
  }

  void set_learning_rate(float rate) override {
    require_sane(with_rate(parameters_.optimizer(), rate));
    parameters_.optimizer().rate = rate;
  }

  void synchronize() override {}
  double loss() override { return loss_; }
  double flops_per_sample() const override { return flops_; }
  std::size_t memory_bytes() const override { return arena_.bytes(); }

  std::size_t parameter_count() const override { return parameters_of(blocks_); }

  void save(std::span<float> parameters) override {
    require_parameters(parameters.size(), parameter_count());
    std::ranges::copy(parameters_.values(), parameters.begin());
  }

  void load(std::span<const float> parameters) override {
    require_parameters(parameters.size(), parameter_count());
    std::ranges::copy(parameters, parameters_.values().begin());
    parameters_.round(0, parameter_count());
  }

 private:
  static int checked(std::size_t batch, int threads) {
    if (batch == 0) throw Error(Fault::usage, "A step needs a batch of at least one sample.");
    if (threads < 1 || threads > 1024) {
      throw Error(Fault::usage,
                  "A step can't use " + std::to_string(threads) + " threads; give it 1 to 1024.");
    }
    return threads;
  }

  static constexpr std::size_t cache_floats = std::size_t{1} << 19;  // 2 MiB
  static constexpr std::size_t most_floats = std::size_t{1} << 30;   // rows must fit in an int

  std::size_t parts() const noexcept { return workers_.size(); }

  void carve(const OptimizerSpec& optimizer) {
    workers_.resize(static_cast<std::size_t>(pool_.threads()));
    losses_.resize(parts());
    parameters_.carve(arena_, parameter_count(), parts(), optimizer);
    const std::size_t chunk = chunk_of(blocks_, batch_, parts());
    for (auto& worker : workers_) worker.carve(arena_, blocks_, chunk);
  }

  /// Samples that one thread takes through the model at a time: about 2 MiB of activations. If
  /// there are more parameters than that, they are what has to be read seldom.
  static std::size_t chunk_of(const std::vector<Block>& blocks, std::size_t batch,
                              std::size_t parts) noexcept {
    std::size_t sample = 0;
    for (const Block& block : blocks) sample += block.raw.elements() + block.out.elements();
    const std::size_t floats = std::clamp(4 * parameters_of(blocks), cache_floats, most_floats);
    const std::size_t share = (batch + parts - 1) / parts;
    return std::clamp(floats / sample, std::size_t{1}, share);
  }

  void train(const TensorView& input, std::span<const std::int32_t> labels, std::size_t counted) {
    const auto weight = static_cast<float>(counted * static_cast<std::size_t>(accumulate_));
    const float scale = counted == 0 ? 0.0f : 1.0f / weight;
    pool_.parallel_for(parts(), [&](std::size_t part) {
      const WorkerParameters<Storage> own{parameters_.rounded(), parameters_.values().data(),
                                          parameters_.gradient(part)};
      const auto [begin, end] = share_of(labels.size(), part);
      losses_[part] = workers_[part].train(input, labels, begin, end, scale, own);
    });
  }

  void average_loss(std::size_t counted) noexcept {
    double sum = 0;
    for (double loss : losses_) sum += loss;
    loss_ = counted == 0 ? 0 : sum / static_cast<double>(counted);
  }

  void update() {
    batches_ = 0;
    ++updates_;
    pool_.parallel_for(parts(), [&](std::size_t part) {
      const auto [begin, end] = share_of(parameter_count(), part);
      parameters_.update(begin, end, updates_);
    });
  }

  std::pair<std::size_t, std::size_t> share_of(std::size_t all, std::size_t part) const noexcept {
    return {all * part / parts(), all * (part + 1) / parts()};
  }

  Shape sample_;
  std::vector<Block> blocks_;
  std::size_t batch_;
  int accumulate_;
  std::size_t classes_;
  double flops_;
  Pool pool_;
  Arena arena_;
  Parameters<Storage> parameters_;
  std::vector<CpuWorker<Storage>> workers_;
  std::vector<double> losses_;
  double loss_ = 0;
  int batches_ = 0;
  std::uint64_t updates_ = 0;
};

}  // namespace feedrate::inline v0
