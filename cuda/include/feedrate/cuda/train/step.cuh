// SPDX-License-Identifier: Apache-2.0
// A training step on the GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/cuda/device.hpp"
#include "feedrate/cuda/graph.hpp"
#include "feedrate/cuda/launch.cuh"
#include "feedrate/cuda/train/block_product.cuh"
#include "feedrate/cuda/train/largest_batch.hpp"
#include "feedrate/cuda/train/step.hpp"
#include "feedrate/cuda/train/step_factory.hpp"
#include "feedrate/cuda/train/step_input.cuh"
#include "feedrate/cuda/train/step_memory.hpp"
#include "feedrate/cuda/train/training.cuh"
#include "feedrate/cuda/transfer.hpp"
#include "feedrate/train/check_batch.hpp"
#include "feedrate/train/cost.hpp"
#include "feedrate/train/cpu/parameters.hpp"
#include "feedrate/train/noise.hpp"

namespace feedrate::inline v0::cuda {

/// Trains a model with activations and operands of products stored as `Storage` (float, BFloat16
/// or Float16). All memory is taken by the constructor.
template <class Storage>
class CudaStep final : public AnyStep {
 public:
  CudaStep(const ModelSpec& model, const OptimizerSpec& optimizer, Operands operands,
           std::size_t batch, cudaStream_t stream, std::uint64_t seed, const StepOptions& options)
      : input_(model, options.preprocess, seed),
        blocks_(checked(model, optimizer, batch)),
        places_(blocks_, per_access<Storage>),
        batch_(batch),
        optimizer_(optimizer),
        options_(options),
        flops_(cost_of(model).step_flops),
        stream_(stream) {
    require_stream();
    carve();
    arena_.allocate(stream_);
    carve();
    training_.emplace(
        TrainingParts<Storage>{blocks_, places_, memory_, optimizer_, rules(), operands}, stream_);
    start(seed);
    warm_up();
  }

  /// `input` is f32, or u8 which is scaled to 0 to 1, of shape [count, ...sample shape], on the
  /// device; a sample has the preprocessing's margin more rows and columns.
  void run(const TensorView& input, std::span<const std::int32_t> labels) override {
    require_batch(input, input_.sample(), labels.size(), batch_);
    count_ = labels.size();
    input_.queue(stream_, input, count_, runs_, memory_.input);
    const CheckLabels check{labels.data(), memory_.labels, memory_.state,
                            count_,        classes(),      optimizer_.accumulate};
    for_rows(stream_, 1, count_, check);
    ++runs_;
    const bool first = batches_ == 0;
    batches_ = batches_ + 1 == optimizer_.accumulate ? 0 : batches_ + 1;
    train({count_, first, batches_ == 0});
  }

  /// Bytes that such a step will take on the current GPU.
  static std::size_t bytes_of(const ModelSpec& model, const OptimizerSpec& optimizer,
                              std::size_t batch) {
    DeviceArena arena;
    StepMemory<Storage>(l2_bytes())
        .carve(arena, checked(model, optimizer, batch), batch, optimizer);
    return arena.bytes();
  }

  void synchronize() override { settled(); }

  double loss() override {
    if (count_ > 0) for_rows(stream_, 1, count_, MeanLoss{memory_.losses, memory_.state, count_});
    return double{settled().loss};
  }

  /// A small copy, which waits for nothing: what is queued from now on has that rate.
  void set_learning_rate(float rate) override {
    require_sane(with_rate(optimizer_, rate));
    check(cudaMemcpyAsync(&memory_.state->now.rate, &rate, sizeof rate, cudaMemcpyHostToDevice,
                          stream_),
          "setting the learning rate");
  }

  double flops_per_sample() const override { return flops_; }
  std::size_t memory_bytes() const override { return arena_.bytes(); }
  std::size_t parameter_count() const override { return parameters_of(blocks_); }

  void save(std::span<float> parameters) override {
    require_parameters(parameters.size(), parameter_count());
    std::vector<float> padded(places_.size());
    read_from(stream_, memory_.values, padded.data(), padded.size());
    places_.gather(padded, parameters);
  }

  void load(std::span<const float> parameters) override {
    require_parameters(parameters.size(), parameter_count());
    std::vector<float> padded(places_.size());
    places_.spread(parameters, padded);
    write_to(stream_, memory_.values, padded.data(), padded.size());
    if constexpr (StepMemory<Storage>::narrow) {
      for_each(stream_, padded.size(), Convert<float, Storage>{memory_.values, memory_.copy, 1.0f});
    }
  }

  /// The scalars of the step, as they are when all queued work is done.
  StepState read_state() {
    StepState state;
    read_from(stream_, memory_.state, &state, 1);
    return state;
  }

 private:
  static std::vector<Block> checked(const ModelSpec& model, const OptimizerSpec& optimizer,
                                    std::size_t batch) {
    require_sane(optimizer);
    std::vector<Block> blocks = plan_of(model);
    if (batch == 0) throw Error(Fault::usage, "A step needs a batch of at least one sample.");
    if (const std::size_t most = largest_batch(blocks); batch > most) {
      throw Error(Fault::usage, "A step on the GPU takes batches of up to " + std::to_string(most) +
                                    " samples of model '" + model.name + "', not " +
                                    std::to_string(batch) + ".");
    }
    return blocks;
  }

  /// The state when all queued work is done. Throws where a label was wrong.
  StepState settled() {
    const StepState state = read_state();
    if (state.refused == 0) return state;
    check(cudaMemsetAsync(&memory_.state->refused, 0, sizeof(state.refused), stream_),
          "clearing the state of a step");
    refuse_label(state.wrong_sample, state.wrong_label, classes());
  }

  void require_stream() const {
    if (!options_.graph || stream_ != nullptr) return;
    throw Error(Fault::usage, "A step can be recorded as a graph only on a stream of its own.");
  }

  UpdateRules rules() const noexcept {
    UpdateRules rules;
    rules.clip_norm = options_.clip_norm;
    rules.scales = std::is_same_v<Storage, Float16>;
    return rules;
  }

  std::size_t classes() const noexcept { return blocks_.back().out.elements(); }

  void carve() { memory_.carve(arena_, blocks_, batch_, optimizer_); }

  void start(std::uint64_t seed) {
    std::vector<float> parameters(parameter_count());
    initialise(blocks_, seed, parameters);
    load(parameters);
  }

  StepState first_state() const noexcept {
    StepState state;
    state.now = scalars_of(optimizer_, 1);
    if (rules().scales) state.loss_scale = options_.first_loss_scale;
    state.factor = 1.0f / state.loss_scale;
    state.gradient_scale = 1.0f / static_cast<float>(batch_);
    return state;
  }

  /// Runs each kind of full batch once and learns nothing of it: products choose their algorithms
  /// and kernels are loaded, which a recording must not do. The samples are random, since on zeros,
  /// which take less power, other algorithms may win.
  void warm_up() {
    StepState state = first_state();
    state.refused = 1;  // as behind a wrong label, no update is done
    write_to(stream_, memory_.state, &state, 1);
    for_each(stream_, batch_ * blocks_.front().in.elements(), Noise<Storage>{memory_.input});
    training_->tune({.count = batch_});
    for (const BatchKind& kind : full_batches()) {
      training_->queue(kind);
      if (options_.graph) {
        graphs_[kind] = Graph::record(stream_, [&] { training_->queue(kind); });
      }
    }
    state = first_state();
    write_to(stream_, memory_.state, &state, 1);
  }

  /// The kinds that full batches are of, as they are accumulated.
  std::vector<BatchKind> full_batches() const {
    const int all = optimizer_.accumulate;
    if (all == 1) return {{batch_, true, true}};
    std::vector<BatchKind> kinds{{batch_, true, false}, {batch_, false, true}};
    if (all > 2) kinds.push_back({batch_, false, false});
    return kinds;
  }

  void train(const BatchKind& batch) {
    const auto graph = graphs_.find(batch);
    graph == graphs_.end() ? training_->queue(batch) : graph->second.launch(stream_);
  }

  StepInput input_;
  std::vector<Block> blocks_;
  ParameterPlaces places_;
  std::size_t batch_;
  OptimizerSpec optimizer_;
  StepOptions options_;
  double flops_;
  cudaStream_t stream_;
  DeviceArena arena_;
  StepMemory<Storage> memory_{l2_bytes()};
  std::optional<Training<Storage>> training_;
  std::map<BatchKind, Graph> graphs_;
  std::size_t count_ = 0;
  int batches_ = 0;
  std::uint64_t runs_ = 0;
};

template <class Storage>
std::unique_ptr<AnyStep> StepFactory<Storage>::make(const ModelSpec& model,
                                                    const OptimizerSpec& optimizer,
                                                    Operands operands, std::size_t batch,
                                                    cudaStream_t stream, std::uint64_t seed,
                                                    const StepOptions& options) {
  return std::make_unique<CudaStep<Storage>>(model, optimizer, operands, batch, stream, seed,
                                             options);
}

template <class Storage>
std::size_t StepFactory<Storage>::bytes_of(const ModelSpec& model, const OptimizerSpec& optimizer,
                                           std::size_t batch) {
  return CudaStep<Storage>::bytes_of(model, optimizer, batch);
}

}  // namespace feedrate::inline v0::cuda
