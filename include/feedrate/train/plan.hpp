// SPDX-License-Identifier: Apache-2.0
// The plan of a model: its layers grouped into blocks that a device computes at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/train/model.hpp"
#include "feedrate/train/shapes.hpp"

namespace feedrate::inline v0 {

/// Height, width and channels; features are a 1 x 1 image.
struct Image {
  std::size_t height = 1, width = 1, channels = 1;

  std::size_t elements() const noexcept { return height * width * channels; }
  std::size_t pixels() const noexcept { return height * width; }
  bool operator==(const Image&) const = default;
};

enum class Activation : std::uint8_t { none, relu, gelu };

/// A product (a convolution; Linear is one of a 1 x 1 image), then bias, pooling and activation,
/// each optional. Max-pooling commutes with adding a bias per channel and with ReLU, so all three
/// happen in one pass over the largest tensor, and ReLU's mask is needed only for the smallest.
/// GELU, which is not monotonic, commutes with no maximum: it joins a product that is not pooled.
struct Block {
  Image in;   ///< what enters
  Image raw;  ///< what leaves the product, before bias and activation
  Image out;  ///< what leaves
  bool product = false;
  Activation activation = Activation::none;
  std::size_t kernel = 1, stride = 1, padding = 0;
  std::size_t pool_kernel = 1, pool_stride = 1;
  std::size_t weights_at = 0, bias_at = 0;  ///< places in the flat parameters

  bool pools() const noexcept { return pool_kernel > 1 || pool_stride > 1; }
  bool relu() const noexcept { return activation == Activation::relu; }
  bool gelu() const noexcept { return activation == Activation::gelu; }
  /// True where the way back needs what left the product, besides what leaves the block.
  bool keeps_raw() const noexcept { return product && (pools() || gelu()); }
  /// Inputs per output of the product: rows of its weight matrix [depth, raw.channels].
  std::size_t depth() const noexcept { return kernel * kernel * in.channels; }
  std::size_t weights() const noexcept { return product ? depth() * raw.channels : 0; }
  std::size_t bias() const noexcept { return product ? raw.channels : 0; }
  /// True where the rows of the product's left operand are the pixels as they lie.
  bool plain() const noexcept { return kernel == 1 && stride == 1 && padding == 0; }
};

namespace detail {

inline Image image_of(const Shape& shape) {
  if (shape.rank() == 3) return {shape[0], shape[1], shape[2]};
  return {1, 1, shape.elements()};
}

inline Block start_block(const Image& in, const Image& raw) {
  Block block;
  block.in = in;
  block.raw = block.out = raw;
  return block;
}

/// Adds one layer to the blocks, between the shapes `in` and `out`.
struct AddLayer {
  std::vector<Block>& blocks;
  Image in, out;

  void operator()(const Linear&) const {
    blocks.push_back(start_block(in, out));
    blocks.back().product = true;
  }

  void operator()(const Conv2d& layer) const {
    (*this)(Linear{});
    blocks.back().kernel = layer.kernel;
    blocks.back().stride = layer.stride;
    blocks.back().padding = layer.padding;
  }

  void operator()(const Relu&) const {
    last_or_new([](const Block& last) { return !last.gelu(); }).activation = Activation::relu;
  }

  void operator()(const Gelu&) const {
    const auto joins = [](const Block& last) {
      return !last.pools() && last.activation == Activation::none;
    };
    last_or_new(joins).activation = Activation::gelu;
  }

  void operator()(const MaxPool& layer) const {
    Block& block = last_or_new([](const Block& last) { return !last.pools() && !last.gelu(); });
    block.pool_kernel = layer.kernel;
    block.pool_stride = layer.stride;
    block.out = out;
  }

  void operator()(const Flatten&) const {}

 private:
  template <class Joins>
  Block& last_or_new(const Joins& joins) const {
    if (blocks.empty() || !joins(blocks.back())) blocks.push_back(start_block(in, in));
    return blocks.back();
  }
};

inline void place_parameters(std::vector<Block>& blocks) noexcept {
  std::size_t at = 0;
  for (Block& block : blocks) {
    block.weights_at = at;
    block.bias_at = at + block.weights();
    at = block.bias_at + block.bias();
  }
}

}  // namespace detail

/// The blocks of a model, first to last; throws Error(usage) where its layers don't fit together.
inline std::vector<Block> plan_of(const ModelSpec& model) {
  const std::vector<Shape> shapes = shapes_of(model);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const detail::AddLayer add{blocks, detail::image_of(shapes[i]),
                               detail::image_of(shapes[i + 1])};
    std::visit(add, model.layers[i]);
  }
  detail::place_parameters(blocks);
  return blocks;
}

/// Number of parameters: per product its weights [kernel, kernel, in, out], then its bias [out].
inline std::size_t parameters_of(const std::vector<Block>& blocks) noexcept {
  return blocks.empty() ? 0 : blocks.back().bias_at + blocks.back().bias();
}

}  // namespace feedrate::inline v0
