// SPDX-License-Identifier: Apache-2.0
// The memory of a GPU step, allocated once: parameters, activations of a full batch, workspace.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/train/blas.hpp"
#include "feedrate/cuda/train/parameter_places.hpp"
#include "feedrate/train/kernels/column_sums.hpp"
#include "feedrate/train/kernels/step_state.hpp"
#include "feedrate/train/optimizer.hpp"
#include "feedrate/train/plan.hpp"
#include "feedrate/train/worker_memory.hpp"

namespace feedrate::inline v0::cuda {

/// Elements of the storage type that one 16-byte access moves.
template <class Storage>
inline constexpr std::size_t per_access = 16 / sizeof(Storage);

/// Arrays for batches of up to `batch` samples.
template <class Storage>
struct StepMemory {
  static constexpr bool narrow = !std::is_same_v<Storage, float>;

  static constexpr std::size_t norm_parts = 1024;

  /// Columns of a convolution are made for some images at a time: they are 9 times as large as a
  /// 3 x 3 kernel's input, and of the GPU's L2 cache they take a third, so that the product finds
  /// them there beside what else it reads and writes.
  std::size_t most_column_bytes = 0;

  StepState* state = nullptr;
  float* values = nullptr;  ///< padded, as ParameterPlaces says; likewise the next four
  Storage* copy = nullptr;  ///< values, rounded; null where that is the same
  float* gradient = nullptr;
  float* first = nullptr;  ///< optimizer state
  float* second = nullptr;
  float* no_bias = nullptr;  ///< zeros, for blocks without a product
  std::byte* workspace = nullptr;

  Storage* input = nullptr;         ///< [batch, ...sample], preprocessed
  std::vector<Kept<Storage>> kept;  ///< one per block
  Storage* dy = nullptr;            ///< two arrays that take turns as gradients between blocks
  Storage* dx = nullptr;
  Storage* draw = nullptr;  ///< gradient of what leaves a product that is pooled
  Storage* columns = nullptr;
  float* losses = nullptr;
  float* sums = nullptr;  ///< of parts, for biases and norms
  std::int32_t* labels = nullptr;

  explicit StepMemory(std::size_t l2_bytes) : most_column_bytes(l2_bytes / 3) {}

  void carve(DeviceArena& arena, const std::vector<Block>& blocks, std::size_t batch,
             const OptimizerSpec& optimizer) {
    carve_parameters(arena, blocks, optimizer);
    input = arena.take<Storage>(batch * blocks.front().in.elements());
    carve_kept(arena, blocks, batch);
    carve_gradients(arena, blocks, batch);
    columns = arena.take<Storage>(column_elements(blocks, batch));
    losses = arena.take<float>(batch);
    sums = arena.take<float>(sum_elements(blocks, batch));
    labels = arena.take<std::int32_t>(batch);
  }

  /// What products read.
  const Storage* rounded() const noexcept {
    if constexpr (narrow) {
      return copy;
    } else {
      return values;
    }
  }

  /// Images whose columns are made at a time, of `images`: chunks of about one size.
  std::size_t chunk_of(const Block& block, std::size_t images) const noexcept {
    if (block.plain()) return images;
    const std::size_t image = column_row(block) * block.raw.pixels() * sizeof(Storage);
    const std::size_t most = std::clamp(most_column_bytes / image, std::size_t{1}, images);
    const std::size_t chunks = (images + most - 1) / most;
    return (images + chunks - 1) / chunks;
  }

 private:
  static std::size_t column_row(const Block& block) noexcept {
    return (block.depth() + per_access<Storage> - 1) / per_access<Storage> * per_access<Storage>;
  }

  std::size_t column_elements(const std::vector<Block>& blocks, std::size_t batch) const noexcept {
    std::size_t most = 0;
    for (const Block& block : blocks) {
      if (!block.product || block.plain()) continue;
      // A smaller batch may be cut into chunks that are a little larger, up to the bound.
      const std::size_t image = column_row(block) * block.raw.pixels();
      const std::size_t fit = most_column_bytes / sizeof(Storage) / image;
      most = std::max(most, image * std::clamp(fit, std::size_t{1}, batch));
    }
    return most;
  }

  static std::size_t sum_elements(const std::vector<Block>& blocks, std::size_t batch) noexcept {
    std::size_t most = norm_parts;
    for (const Block& block : blocks) {
      const RowParts cut = RowParts::of(batch * block.out.pixels(), block.out.channels);
      if (block.product) most = std::max(most, cut.parts * cut.columns);
    }
    return most;
  }

  void carve_parameters(DeviceArena& arena, const std::vector<Block>& blocks,
                        const OptimizerSpec& optimizer) {
    const std::size_t count = ParameterPlaces(blocks, per_access<Storage>).size();
    std::size_t channels = 0;
    for (const Block& block : blocks) channels = std::max(channels, block.raw.channels);
    state = arena.take<StepState>(1);
    values = arena.take<float>(count);
    copy = arena.take<Storage>(narrow ? count : 0);
    gradient = arena.take<float>(count);
    first = arena.take<float>(state_arrays(optimizer) > 0 ? count : 0);
    second = arena.take<float>(state_arrays(optimizer) > 1 ? count : 0);
    no_bias = arena.take<float>(channels);
    workspace = arena.take<std::byte>(Blas::workspace_bytes);
  }

  void carve_kept(DeviceArena& arena, const std::vector<Block>& blocks, std::size_t batch) {
    kept.clear();
    for (const Block& block : blocks) {
      Kept<Storage>& made = kept.emplace_back();
      const bool shared = block.product && !block.keeps_raw();
      if (block.product) made.raw = arena.take<Storage>(batch * block.raw.elements());
      made.out = shared ? made.raw : arena.take<Storage>(batch * block.out.elements());
    }
  }

  void carve_gradients(DeviceArena& arena, const std::vector<Block>& blocks, std::size_t batch) {
    std::size_t between = 0, pooled = 0;
    for (const Block& block : blocks) {
      // The gradient of the model's input is never computed.
      const bool is_first = &block == &blocks.front();
      between = std::max({between, block.out.elements(), is_first ? 0 : block.in.elements()});
      if (block.product && block.pools()) pooled = std::max(pooled, block.raw.elements());
    }
    dy = arena.take<Storage>(batch * between);
    dx = arena.take<Storage>(batch * between);
    draw = arena.take<Storage>(batch * pooled);
  }
};

}  // namespace feedrate::inline v0::cuda
