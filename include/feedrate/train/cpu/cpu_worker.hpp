// SPDX-License-Identifier: Apache-2.0
// One thread's share of a step on the CPU: forward, loss and backward of a few samples at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "feedrate/core/tensor.hpp"
#include "feedrate/train/arena.hpp"
#include "feedrate/train/cpu/cpu.hpp"
#include "feedrate/train/cpu/cpu_product.hpp"
#include "feedrate/train/kernels/kernels.hpp"
#include "feedrate/train/kernels/loss.hpp"
#include "feedrate/train/kernels/pooling.hpp"
#include "feedrate/train/plan.hpp"
#include "feedrate/train/worker_memory.hpp"

namespace feedrate::inline v0 {

/// What a worker reads and adds to; flat, placed as the blocks say.
template <class Storage>
struct WorkerParameters {
  const Storage* weights;  ///< rounded to the storage type
  const float* values;     ///< the same in float; the biases are read here
  float* gradient;
};

/// Samples go through the whole model in chunks whose activations stay in the cache, so the
/// memory of a step depends on the chunk, not on the batch.
template <class Storage>
class CpuWorker {
 public:
  void carve(Arena& arena, const std::vector<Block>& blocks, std::size_t chunk) {
    blocks_ = blocks;
    chunk_ = chunk;
    memory_.carve(arena, blocks, chunk);
    scratch_.carve(arena, blocks);
  }

  /// Trains on the samples [begin, end) of a batch and returns the sum of their losses; gradients
  /// are added, times `scale`.
  double train(const TensorView& input, std::span<const std::int32_t> labels, std::size_t begin,
               std::size_t end, float scale, const WorkerParameters<Storage>& parameters) {
    parameters_ = parameters;
    double loss = 0;
    for (std::size_t at = begin; at < end; at += chunk_) {
      images_ = std::min(chunk_, end - at);
      const Storage* const x = load(input, at);
      forward(x);
      loss += compute_loss(labels.subspan(at, images_), scale);
      backward(x);
    }
    return loss;
  }

 private:
  /// The samples from `at` on, in the storage type; u8 becomes 0 to 1.
  const Storage* load(const TensorView& input, std::size_t at) {
    const std::size_t elements = blocks_.front().in.elements();
    if (input.dtype == DType::u8) {
      return convert(static_cast<const std::uint8_t*>(input.data) + at * elements, 1.0f / 255.0f);
    }
    const float* const x = static_cast<const float*>(input.data) + at * elements;
    if constexpr (std::is_same_v<Storage, float>) {
      return x;
    } else {
      return convert(x, 1.0f);
    }
  }

  template <class In>
  const Storage* convert(const In* x, float scale) {
    Cpu{}.for_each(images_ * blocks_.front().in.elements(),
                   Convert<In, Storage>{x, memory_.input, scale});
    return memory_.input;
  }

  void forward(const Storage* x) {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      forward_block(blocks_[i], memory_.kept[i], x);
      x = memory_.kept[i].out;
    }
  }

  void forward_block(const Block& block, const Kept<Storage>& to, const Storage* x) {
    if (block.product) product(block).forward(x, images_, to.raw);
    const Storage* const raw = block.product ? to.raw : x;
    if (block.pools()) {
      const PoolForward<Storage> pool{pooling(block, raw), to.out};
      Cpu{}.for_rows(images_ * block.out.pixels(), pool);
    } else if (block.gelu()) {
      const BiasGelu<Storage> gelu{raw, bias(block), to.raw, to.out, block.raw.channels};
      Cpu{}.for_rows(images_ * block.raw.pixels(), gelu);
    } else {
      const BiasRelu<Storage, Storage> bias_relu{raw, bias(block), to.out, block.raw.channels,
                                                 floor_of(block.relu())};
      Cpu{}.for_rows(images_ * block.raw.pixels(), bias_relu);
    }
  }

  double compute_loss(std::span<const std::int32_t> labels, float scale) {
    const SoftmaxCrossEntropy<Storage> loss{
        memory_.kept.back().out,       labels.data(), memory_.dy, memory_.losses.data(),
        blocks_.back().out.elements(), &scale};
    Cpu{}.for_rows(images_, loss);
    double sum = 0;
    for (float each : memory_.losses.first(images_)) sum += double{each};
    return sum;
  }

  /// Back to the first product; nothing before it has parameters.
  void backward(const Storage* x) {
    std::size_t first = 0;
    while (first < blocks_.size() && !blocks_[first].product) ++first;
    for (std::size_t i = blocks_.size(); i-- > first;) {
      backward_block(blocks_[i], memory_.kept[i], i == 0 ? x : memory_.kept[i - 1].out, i > first);
    }
  }

  /// Turns memory_.dy, the gradient of what leaves the block, into that of what enters it.
  void backward_block(const Block& block, const Kept<Storage>& kept, const Storage* x,
                      bool need_dx) {
    const std::size_t outputs = images_ * block.out.elements();
    if (block.relu()) Cpu{}.for_each(outputs, ReluBackward<Storage>{kept.out, memory_.dy});
    if (block.gelu()) {
      const Storage* const z = block.product ? kept.raw : x;
      Cpu{}.for_each(outputs, GeluBackward<Storage>{z, memory_.dy});
    }
    if (block.product) {
      add_bias_gradient(block);
      float* const dw = parameters_.gradient + block.weights_at;
      product(block).backward(x, raw_gradient(block, kept), images_, dw,
                              need_dx ? memory_.dx : nullptr);
      std::swap(memory_.dy, memory_.dx);
    } else if (block.pools()) {
      unpool(block, kept, x, memory_.dx);
      std::swap(memory_.dy, memory_.dx);
    }
  }

  void add_bias_gradient(const Block& block) {
    with_best_vectors([dy = memory_.dy, sum = parameters_.gradient + block.bias_at,
                       rows = images_ * block.out.pixels(), channels = block.out.channels] {
      for (std::size_t row = 0; row < rows; ++row) {
        FEEDRATE_INDEPENDENT
        for (std::size_t c = 0; c < channels; ++c) sum[c] += dy[row * channels + c];
      }
    });
  }

  /// The gradient of what left the product, in the type that products read.
  const Storage* raw_gradient(const Block& block, const Kept<Storage>& kept) {
    if (block.pools()) {
      unpool(block, kept, kept.raw, memory_.draw);
      return memory_.draw;
    }
    if constexpr (std::is_same_v<Storage, float>) {
      return memory_.dy;
    } else {
      const Convert<float, Storage> convert{memory_.dy, memory_.draw, 1.0f};
      Cpu{}.for_each(images_ * block.raw.elements(), convert);
      return memory_.draw;
    }
  }

  template <class Dx>
  void unpool(const Block& block, const Kept<Storage>& kept, const Storage* raw, Dx* dx) {
    const std::size_t bytes = images_ * block.raw.elements() * sizeof(Dx);
    const Pooling<Storage> of = pooling(block, raw);
    if (!of.windows.tile()) std::memset(static_cast<void*>(dx), 0, bytes);
    const PoolBackward<Storage, Dx> back{of, kept.out, memory_.dy, dx};
    Cpu{}.for_rows(images_ * block.out.pixels(), back);
  }

  CpuProduct<Storage> product(const Block& block) const {
    return {block, parameters_.weights + block.weights_at, scratch_};
  }

  const float* bias(const Block& block) const noexcept {
    return block.product ? parameters_.values + block.bias_at : memory_.no_bias;
  }

  Pooling<Storage> pooling(const Block& block, const Storage* raw) const noexcept {
    return {raw, bias(block), windows_of(block), floor_of(block.relu())};
  }

  std::vector<Block> blocks_;
  WorkerMemory<Storage> memory_;
  ProductScratch<Storage> scratch_;
  WorkerParameters<Storage> parameters_{};
  std::size_t chunk_ = 1, images_ = 0;
};

}  // namespace feedrate::inline v0
