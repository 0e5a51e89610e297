// SPDX-License-Identifier: Apache-2.0
// The product of a block on the GPU: Linear or a convolution, forward and backward.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "feedrate/cuda/launch.cuh"
#include "feedrate/cuda/train/blas.hpp"
#include "feedrate/cuda/train/step_memory.hpp"
#include "feedrate/train/kernels/column_sums.hpp"
#include "feedrate/train/kernels/im2col.hpp"
#include "feedrate/train/kernels/kernels.hpp"
#include "feedrate/train/kernels/pack.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0::cuda {

/// What products of a step work with.
template <class Storage>
struct ProductTools {
  cudaStream_t stream;
  Blas& blas;
  Operands operands;
  const StepMemory<Storage>& memory;
};

/// Where the activation of a block that does not pool reads and writes.
template <class Storage>
struct Activated {
  const Storage* x;
  const float* bias;
  Storage* z;  ///< takes x and the bias where GELU follows; may be x, or null
  Storage* y;
};

/// Queues bias and activation of `rows` pixels as a pass of their own.
template <class Storage>
void queue_activation(cudaStream_t stream, const Block& block, const Activated<Storage>& at,
                      std::size_t rows) {
  const std::size_t channels = block.raw.channels;
  if (block.gelu()) {
    return for_rows(stream, rows, channels, BiasGelu<Storage>{at.x, at.bias, at.z, at.y, channels});
  }
  const float floor = floor_of(block.relu());
  for_rows(stream, rows, channels,
           BiasRelu<Storage, Storage>{at.x, at.bias, at.y, channels, floor});
}

/// One product with its weights [place.depth, raw.channels]. A convolution's columns are made for
/// some images at a time, once for the forward and once for the backward pass.
template <class Storage>
class BlockProduct {
 public:
  BlockProduct(const ProductTools<Storage>& tools, const Block& block, const Place& place)
      : tools_(tools), block_(block), place_(place), depth_(place.depth), out_(outputs(block)) {}

  /// kept.raw[images, ...raw] = x[images, ...in] times the weights; where no pooling follows, also
  /// plus the bias, and kept.out = the activation of that.
  void forward(const Storage* x, std::size_t images, const Kept<Storage>& kept) const {
    const Epilogue wanted = epilogue();
    for_chunks(images, [&](std::size_t first, std::size_t count) {
      Product product = of({.m = count * block_.raw.pixels(), .n = out_, .k = depth_});
      product.epilogue = wanted;
      const std::size_t at = first * block_.raw.elements();
      Storage *const raw = kept.raw + at, *const out = block_.pools() ? raw : kept.out + at;
      ProductMemory memory{.a = left(x, first, count),
                           .b = weights(),
                           .c = out,
                           .bias = const_cast<Storage*>(weights_base() + place_.bias_at),
                           .aux = raw};
      const auto bytes = 2.0 * static_cast<double>(product.m * out_ * sizeof(Storage));
      if (wanted == Epilogue::none || tools_.blas.pays(product, memory, bytes)) {
        return tools_.blas.run(product, memory);
      }
      product.epilogue = Epilogue::none;
      memory.c = raw;
      tools_.blas.run(product, memory);
      const float* const bias = tools_.memory.values + place_.bias_at;
      queue_activation(tools_.stream, block_, Activated<Storage>{raw, bias, raw, out}, product.m);
    });
  }

  /// From `draw`, the gradient of raw: the gradients of the weights and, where no pooling follows,
  /// of the bias, added to what is there where `add` says so, and dx unless it is null.
  void backward(const Storage* x, const Storage* draw, std::size_t images, bool add,
                Storage* dx) const {
    bool bias_done = block_.pools();
    for_chunks(images, [&](std::size_t first, std::size_t count) {
      const Storage* const gradient = draw + first * block_.raw.elements();
      const bool whole = count == images && !add && !bias_done;
      bias_done |= weight_gradient(left(x, first, count), gradient, count, add || first > 0, whole);
      if (dx != nullptr) input_gradient(gradient, count, dx + first * block_.in.elements());
    });
    if (!bias_done) bias_gradient(draw, images, add);
  }

  /// From dy, the gradient of what leaves the block, before its activation: that of the bias.
  void bias_gradient(const Storage* dy, std::size_t images, bool add) const {
    const RowParts cut = RowParts::of(images * block_.out.pixels(), out_);
    float* const sums = tools_.memory.sums;
    if (SumPartsInPacks<Storage>::fits(out_)) {
      const std::size_t width = 2 * out_ / pack_width;  // so that no lane takes many packs
      for_rows(tools_.stream, cut.parts, width, SumPartsInPacks<Storage>{cut, dy, sums});
    } else {
      for_rows(tools_.stream, cut.parts, out_, SumParts<Storage>{cut, dy, sums});
    }
    const AddParts total{cut, sums, tools_.memory.gradient + place_.bias_at, add};
    for_rows(tools_.stream, out_, cut.parts, total);
  }

 private:
  static std::size_t outputs(const Block& block) noexcept { return block.raw.channels; }

  template <class F>
  void for_chunks(std::size_t images, const F& f) const {
    const std::size_t chunk = tools_.memory.chunk_of(block_, images);
    for (std::size_t first = 0; first < images; first += chunk) {
      f(first, std::min(chunk, images - first));
    }
  }

  const Storage* weights_base() const noexcept { return tools_.memory.rounded(); }
  const Storage* weights() const noexcept { return weights_base() + place_.weights_at; }

  /// A product of the forward pass; what differs is set by the caller.
  Product of(Product product) const noexcept {
    product.operands = tools_.operands;
    if (product.a_leading == 0) product.a_leading = depth_;
    if (product.b_leading == 0) product.b_leading = out_;
    if (product.c_leading == 0) product.c_leading = out_;
    return product;
  }

  /// The left operand of some images: x itself, or its columns.
  const Storage* left(const Storage* x, std::size_t first, std::size_t count) const {
    const Storage* const from = x + first * block_.in.elements();
    if (block_.plain()) return from;
    const std::size_t rows = count * block_.raw.pixels();
    Storage* const to = tools_.memory.columns;
    if (block_.in.channels % per_access<Storage> == 0) {
      using Access = Pack<Storage, int{per_access<Storage>}>;
      const ReadColumns<Access> read{ColumnGeometry(block_, depth_, per_access<Storage>),
                                     reinterpret_cast<const Access*>(from),
                                     reinterpret_cast<Access*>(to)};
      for_rows(tools_.stream, rows, depth_ / per_access<Storage>, read);
    } else {
      const GatherColumns<Storage, int{per_access<Storage>}> read(ColumnGeometry(block_, depth_),
                                                                  from, to);
      for_each(tools_.stream, rows * depth_ / per_access<Storage>, read);
    }
    return to;
  }

  /// What the product is asked to do besides.
  Epilogue epilogue() const noexcept {
    if (block_.pools()) return Epilogue::none;
    if (block_.gelu()) return Epilogue::bias_gelu;
    return block_.relu() ? Epilogue::bias_relu : Epilogue::bias;
  }

  /// True where the bias' gradient was computed, too: the product reads all of `draw` anyway.
  bool weight_gradient(const Storage* a, const Storage* draw, std::size_t images, bool add,
                       bool whole) const {
    Product product = of({.m = depth_, .n = out_, .k = images * block_.raw.pixels(), .wide = true});
    product.a_transposed = true;
    float* const gradient = tools_.memory.gradient;
    const ProductMemory memory{.a = a,
                               .b = draw,
                               .c = gradient + place_.weights_at,
                               .bias = gradient + place_.bias_at,
                               .beta = add ? 1.0f : 0.0f};
    Product fused = product;
    fused.epilogue = Epilogue::bias_gradient;
    const auto bytes = static_cast<double>(product.k * out_ * sizeof(Storage));
    const bool fuses = whole && tools_.blas.pays(fused, memory, bytes);
    tools_.blas.run(fuses ? fused : product, memory);
    return fuses;
  }

  /// The columns' memory is used again: the weights' gradient has read it.
  void input_gradient(const Storage* draw, std::size_t images, Storage* dx) const {
    Product product = of({.m = images * block_.raw.pixels(), .n = depth_, .k = out_});
    product.a_leading = out_;
    product.b_transposed = true;
    product.c_leading = depth_;
    Storage* const to = block_.plain() ? dx : tools_.memory.columns;
    tools_.blas.run(product, {.a = draw, .b = weights(), .c = to});
    if (block_.plain()) return;
    sum_columns(images, to, dx);
  }

  void sum_columns(std::size_t images, const Storage* columns, Storage* dx) const {
    const std::size_t pixels = images * block_.in.pixels(), channels = block_.in.channels;
    constexpr std::size_t together = per_access<Storage>;
    if (channels % together == 0) {
      const SumColumns<Storage, int{together}> sum(ColumnGeometry(block_, depth_, together),
                                                   columns, dx);
      for_rows(tools_.stream, pixels, channels / together, sum);
    } else {
      const SumColumns<Storage> sum(ColumnGeometry(block_, depth_), columns, dx);
      for_rows(tools_.stream, pixels, channels, sum);
    }
  }

  ProductTools<Storage> tools_;
  const Block& block_;
  const Place& place_;
  std::size_t depth_, out_;
};

}  // namespace feedrate::inline v0::cuda
