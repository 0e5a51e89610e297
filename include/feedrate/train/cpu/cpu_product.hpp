// SPDX-License-Identifier: Apache-2.0
// The product of a block on the CPU: Linear or a convolution, forward and backward, in tiles of
// lines whose columns fit into the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "feedrate/train/arena.hpp"
#include "feedrate/train/cpu/blas.hpp"
#include "feedrate/train/cpu/columns.hpp"
#include "feedrate/train/cpu/cpu.hpp"
#include "feedrate/train/kernels/kernels.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0 {

/// Memory for the tiles of the products of one thread.
template <class Storage>
struct ProductScratch {
  static constexpr std::size_t tile_floats = std::size_t{1} << 17;  // 512 KiB
  static constexpr bool narrow = !std::is_same_v<Storage, float>;

  std::span<float> columns;  ///< one tile of columns
  std::span<float> tile;     ///< narrow storage: one tile of outputs before they are rounded
  std::span<float> panels;   ///< narrow storage: widened operands

  /// Enough for each of the blocks: a tile has at least one line.
  void carve(Arena& arena, std::span<const Block> blocks) {
    std::size_t column_floats = 0, output_floats = 0, panel_floats = 0;
    for (const Block& block : blocks) {
      if (!block.product) continue;
      const std::size_t line = block.raw.width * block.depth(), least = tile_floats;
      if (!block.plain()) column_floats = std::max({column_floats, line, least});
      output_floats = std::max({output_floats, block.raw.width * block.raw.channels, least});
      const std::size_t rows = std::max(block.depth(), least / block.raw.channels);
      panel_floats = std::max(panel_floats, 16 * (rows + block.raw.channels + block.depth()));
    }
    columns = arena.take<float>(column_floats);
    tile = arena.take<float>(narrow ? output_floats : 0);
    panels = arena.take<float>(narrow ? std::max(panel_floats, 2 * output_floats) : 0);
  }
};

/// One product with its weights [depth, raw.channels].
template <class Storage>
class CpuProduct {
 public:
  CpuProduct(const Block& block, const Storage* weights, const ProductScratch<Storage>& scratch)
      : block_(block), weights_{weights, block.raw.channels}, scratch_(scratch) {}

  /// raw[images, ...raw] = x[images, ...in] times the weights, without bias.
  void forward(const Storage* x, std::size_t images, Storage* raw) const {
    for_tiles(images, [&](const Lines& lines) {
      with_left(x, lines, [&](const auto& left) {
        multiply_into(raw + at(lines), {rows(lines), outputs(), block_.depth()}, left);
      });
    });
  }

  /// Adds to `weight_gradient`, and sets `dx` unless it is null, from the gradient of `raw`.
  void backward(const Storage* x, const Storage* draw, std::size_t images, float* weight_gradient,
                float* dx) const {
    if (dx != nullptr && !block_.plain()) {
      std::memset(dx, 0, images * block_.in.elements() * sizeof(float));
    }
    for_tiles(images, [&](const Lines& lines) {
      const Operand<Storage> gradient{draw + at(lines), outputs()};
      with_left(x, lines, [&](auto left) {
        left.op = Op::transposed;
        gemm({block_.depth(), outputs(), rows(lines)}, left, gradient, 1.0f, weight_gradient,
             outputs(), scratch_.panels);
      });
      if (dx != nullptr) input_gradient(gradient, lines, dx);
    });
  }

 private:
  std::size_t outputs() const noexcept { return block_.raw.channels; }
  std::size_t rows(const Lines& lines) const noexcept { return lines.count * block_.raw.width; }
  std::size_t at(const Lines& lines) const noexcept {
    return lines.first * block_.raw.width * outputs();
  }

  template <class F>
  void for_tiles(std::size_t images, const F& f) const {
    const std::size_t lines = images * block_.raw.height, most = lines_per_tile(lines);
    for (std::size_t first = 0; first < lines; first += most) {
      f(Lines{first, std::min(most, lines - first)});
    }
  }

  /// As many whole lines as the scratch memory holds, in tiles of about one size.
  std::size_t lines_per_tile(std::size_t lines) const noexcept {
    const std::size_t width = block_.raw.width;
    std::size_t most = lines;
    if (!block_.plain()) most = std::min(most, scratch_.columns.size() / (width * block_.depth()));
    if (ProductScratch<Storage>::narrow)
      most = std::min(most, scratch_.tile.size() / (width * outputs()));
    const std::size_t tiles = (lines + most - 1) / most;
    return (lines + tiles - 1) / tiles;
  }

  /// Calls f with the left operand of some lines: x itself, or its columns.
  template <class F>
  void with_left(const Storage* x, const Lines& lines, const F& f) const {
    if (block_.plain()) {
      f(Operand<Storage>{x + lines.first * block_.raw.width * block_.depth(), block_.depth()});
    } else {
      read_columns(block_, x, lines, scratch_.columns.data());
      f(Operand<float>{scratch_.columns.data(), block_.depth()});
    }
  }

  template <class Left>
  void multiply_into(Storage* to, const Extents& size, const Left& left) const {
    if constexpr (ProductScratch<Storage>::narrow) {
      float* const tile = scratch_.tile.data();
      gemm(size, left, weights_, 0.0f, tile, size.n, scratch_.panels);
      Cpu{}.for_each(size.m * size.n, Convert<float, Storage>{tile, to, 1.0f});
    } else {
      gemm(size, left, weights_, 0.0f, to, size.n);
    }
  }

  void input_gradient(const Operand<Storage>& gradient, const Lines& lines, float* dx) const {
    const Operand<Storage> transposed{weights_.data, weights_.leading, Op::transposed};
    const std::size_t depth = block_.depth();
    float* const to =
        block_.plain() ? dx + lines.first * block_.raw.width * depth : scratch_.columns.data();
    gemm({rows(lines), depth, outputs()}, gradient, transposed, 0.0f, to, depth, scratch_.panels);
    if (!block_.plain()) add_columns(block_, to, lines, dx);
  }

  const Block& block_;
  Operand<Storage> weights_;
  const ProductScratch<Storage>& scratch_;
};

}  // namespace feedrate::inline v0
