// SPDX-License-Identifier: Apache-2.0
// The work of a step after preprocessing: forward, loss, backward, update. A graph can record it,
// because all values that change between batches are in the GPU's memory.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <utility>
#include <vector>

#include "feedrate/cuda/launch.cuh"
#include "feedrate/cuda/train/blas.hpp"
#include "feedrate/cuda/train/block_product.cuh"
#include "feedrate/cuda/train/parameter_places.hpp"
#include "feedrate/cuda/train/step_memory.hpp"
#include "feedrate/train/kernels/kernels.hpp"
#include "feedrate/train/kernels/loss.hpp"
#include "feedrate/train/kernels/pool_packs.hpp"
#include "feedrate/train/kernels/pooling.hpp"
#include "feedrate/train/kernels/step_state.hpp"
#include "feedrate/train/kernels/unpool.hpp"
#include "feedrate/train/kernels/update.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0::cuda {

/// A batch as the recorded part of a step sees it.
struct BatchKind {
  std::size_t count = 0;
  bool first = true;  ///< of those whose gradients are averaged: it overwrites what is there
  bool last = true;   ///< of those: the update follows

  auto operator<=>(const BatchKind&) const = default;
};

/// The blocks, the memory and the rules of a step; kept by it.
template <class Storage>
struct TrainingParts {
  const std::vector<Block>& blocks;
  const ParameterPlaces& places;
  const StepMemory<Storage>& memory;
  const OptimizerSpec& optimizer;
  UpdateRules rules;
  Operands operands;
};

template <class Storage>
class Training {
 public:
  Training(const TrainingParts<Storage>& parts, cudaStream_t stream)
      : parts_(parts), stream_(stream), blas_(stream, parts.memory.workspace) {}

  /// Queues all for the batch that lies in memory.input and memory.labels.
  void queue(const BatchKind& batch) {
    queue_gradient(batch);
    if (batch.last) queue_update();
  }

  /// The gradient alone, with the algorithm of each product chosen by measuring; waits for it.
  void tune(const BatchKind& batch) {
    blas_.tune(true);
    queue_gradient(batch);
    blas_.tune(false);
  }

 private:
  using Memory = StepMemory<Storage>;

  void queue_gradient(const BatchKind& batch) {
    batch_ = batch;
    forward();
    loss();
    backward();
  }

  const std::vector<Block>& blocks() const noexcept { return parts_.blocks; }
  const Memory& memory() const noexcept { return parts_.memory; }

  BlockProduct<Storage> product(std::size_t i) {
    return {{stream_, blas_, parts_.operands, memory()}, blocks()[i], parts_.places[i]};
  }

  const float* bias(std::size_t i) const noexcept {
    return blocks()[i].product ? memory().values + parts_.places[i].bias_at : memory().no_bias;
  }

  /// What enters block i.
  const Storage* input_of(std::size_t i) const noexcept {
    return i == 0 ? memory().input : memory().kept[i - 1].out;
  }

  /// What its pooling reads, or its GELU with the bias.
  const Storage* raw_of(std::size_t i) const noexcept {
    return blocks()[i].product ? memory().kept[i].raw : input_of(i);
  }

  Pooling<Storage> pooling(std::size_t i) const noexcept {
    const Block& block = blocks()[i];
    return {raw_of(i), bias(i), windows_of(block), floor_of(block.relu())};
  }

  void forward() {
    for (std::size_t i = 0; i < blocks().size(); ++i) {
      const Block& block = blocks()[i];
      if (block.product) product(i).forward(input_of(i), batch_.count, memory().kept[i]);
      if (block.pools()) {
        pool(i);
      } else if (!block.product) {
        const Activated<Storage> at{input_of(i), bias(i), nullptr, memory().kept[i].out};
        queue_activation(stream_, block, at, batch_.count * block.raw.pixels());
      }
    }
  }

  void pool(std::size_t i) {
    const Block& block = blocks()[i];
    const Pooling<Storage> of = pooling(i);
    Storage* const out = memory().kept[i].out;
    const std::size_t rows = batch_.count * block.out.pixels(), channels = block.out.channels;
    if (pools_in_packs<Storage>(of, out)) {
      for_rows(stream_, rows, channels / pack_width, PoolForwardPacks<Storage>{of, out});
    } else {
      for_rows(stream_, rows, channels, PoolForward<Storage>{of, out});
    }
  }

  void loss() {
    constexpr int most = int{per_access<Storage>};
    blocks().back().out.elements() % most == 0 ? loss<most>() : loss<1>();
  }

  template <int together>
  void loss() {
    const std::size_t classes = blocks().back().out.elements();
    const SoftmaxCrossEntropy<Storage, Storage, together> loss{
        memory().kept.back().out, memory().labels, memory().dy,
        memory().losses,          classes,         &memory().state->gradient_scale};
    for_rows(stream_, batch_.count, classes / together, loss);
  }

  /// Back to the first product; nothing before it has parameters.
  void backward() {
    std::size_t first = 0;
    while (first < blocks().size() && !blocks()[first].product) ++first;
    Storage *dy = memory().dy, *dx = memory().dx;
    for (std::size_t i = blocks().size(); i-- > first;) {
      if (backward_block(i, dy, i > first ? dx : nullptr)) std::swap(dy, dx);
    }
  }

  /// Turns dy, the gradient of what leaves block i, into that of what enters it. True if that is
  /// in dx; else it is in dy still.
  bool backward_block(std::size_t i, Storage* dy, Storage* dx) {
    const Block& block = blocks()[i];
    const std::size_t outputs = batch_.count * block.out.elements();
    if (block.relu()) {
      const ReluBackward<Storage, Storage> back{memory().kept[i].out, dy};
      for_each(stream_, outputs, back);
    }
    if (block.gelu()) for_each(stream_, outputs, GeluBackward<Storage, Storage>{raw_of(i), dy});
    if (!block.product && !block.pools()) return false;
    Storage* const draw = block.product ? memory().draw : dx;
    const bool add = !batch_.first;
    if (block.product && block.pools()) product(i).bias_gradient(dy, batch_.count, add);
    if (block.pools()) unpool(i, dy, draw);
    if (block.product) {
      const Storage* const gradient = block.pools() ? draw : dy;
      product(i).backward(input_of(i), gradient, batch_.count, add, dx);
    }
    return true;
  }

  /// Uses dy up. Where windows overlap, each input looks for those that it won.
  void unpool(std::size_t i, Storage* dy, Storage* to) {
    const Block& block = blocks()[i];
    const Pooling<Storage> of = pooling(i);
    const Storage* const out = memory().kept[i].out;
    if (of.windows.overlap()) {
      const GatherPool<Storage, Storage> body{of, out, dy, to};
      for_rows(stream_, batch_.count * block.raw.pixels(), block.raw.channels, body);
      return;
    }
    const std::size_t bytes = batch_.count * block.raw.elements() * sizeof(Storage);
    if (!of.windows.tile()) check(cudaMemsetAsync(to, 0, bytes, stream_), "clearing a gradient");
    const std::size_t rows = batch_.count * block.out.pixels(), channels = block.out.channels;
    if (pools_in_packs(of, out)) {
      const PoolBackwardPacks<Storage, Storage> body{of, out, dy, to};
      for_rows(stream_, rows, channels / pack_width, body);
    } else {
      const PoolBackward<Storage, Storage, Storage> body{of, out, dy, to};
      for_rows(stream_, rows, channels, body);
    }
  }

  void queue_update() {
    const std::size_t count = parts_.places.size();
    const UpdateRules& rules = parts_.rules;
    const std::size_t norm_parts = rules.measures() ? Memory::norm_parts : 0;
    const SquareParts squares{memory().gradient, memory().state, memory().sums, count, norm_parts};
    for_rows(stream_, norm_parts, 512, squares);
    // Plain descent needs no scalars that change.
    if (rules.measures() || parts_.optimizer.kind == OptimizerSpec::Kind::adam) {
      const PrepareUpdate prepare{parts_.optimizer, rules, memory().state, memory().sums,
                                  norm_parts};
      for_rows(stream_, 1, std::max<std::size_t>(norm_parts, 32), prepare);
    }
    if (state_arrays(parts_.optimizer) == 2) return update<2>(count);
    state_arrays(parts_.optimizer) == 1 ? update<1>(count) : update<0>(count);
  }

  template <int states>
  void update(std::size_t count) {
    const Update<Storage, states> body{parts_.optimizer, memory().state,    memory().values,
                                       memory().copy,    memory().gradient, memory().first,
                                       memory().second};
    for_each(stream_, count, body);
  }

  TrainingParts<Storage> parts_;
  cudaStream_t stream_;
  Blas blas_;
  BatchKind batch_;
};

}  // namespace feedrate::inline v0::cuda
