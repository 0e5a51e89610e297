// SPDX-License-Identifier: Apache-2.0
// Stand-in for products on the GPU: CBLAS in float on operands that are rounded as the storage
// type or TF32 says.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/cuda/check.hpp"
#include "feedrate/cuda/train/product.hpp"
#include "feedrate/train/cpu/blas.hpp"
#include "feedrate/train/kernels/kernels.hpp"

namespace standin {

/// While true, products with an epilogue are refused, as a library may do.
inline std::atomic<bool> refuses_epilogues = false;
/// Products run with an epilogue so far.
inline std::atomic<int> epilogues = 0;

}  // namespace standin

namespace feedrate::inline v0::cuda {
namespace detail {

/// A float with the 10 mantissa bits of TF32; halves to even.
inline float as_tf32(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

inline float load(const void* from, std::size_t i, Operands type) noexcept {
  if (type == Operands::bf16) return float(static_cast<const BFloat16*>(from)[i]);
  if (type == Operands::f16) return float(static_cast<const Float16*>(from)[i]);
  const float value = static_cast<const float*>(from)[i];
  return type == Operands::tf32 ? as_tf32(value) : value;
}

inline void store(void* to, std::size_t i, Operands type, float value) noexcept {
  if (type == Operands::bf16) {
    static_cast<BFloat16*>(to)[i] = BFloat16(value);
  } else if (type == Operands::f16) {
    static_cast<Float16*>(to)[i] = Float16(value);
  } else {
    static_cast<float*>(to)[i] = value;
  }
}

/// A dense copy of a matrix in memory, in float.
inline std::vector<float> widened(const void* from, std::size_t rows, std::size_t columns,
                                  std::size_t leading, Operands type) {
  std::vector<float> dense(rows * columns);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    dense[i] = load(from, i / columns * leading + i % columns, type);
  }
  return dense;
}

/// Bias and activation, or the sums of B's columns, which are added up before C is rounded.
inline void finish(const Product& p, const ProductMemory& memory, const std::vector<float>& b,
                   std::vector<float>& c, Operands result) {
  if (p.epilogue == Epilogue::none) return;
  ++standin::epilogues;
  for (std::size_t j = 0; j < p.n; ++j) {
    if (p.epilogue == Epilogue::bias_gradient) {
      float sum = 0;
      for (std::size_t k = 0; k < p.k; ++k) sum += b[k * p.n + j];
      store(memory.bias, j, result, sum);
      continue;
    }
    const float bias = load(memory.bias, j, result);
    for (std::size_t i = 0; i < p.m; ++i) {
      float& value = c[i * p.n + j];
      value += bias;
      if (p.epilogue == Epilogue::bias_relu && value < 0) value = 0;
      if (p.epilogue != Epilogue::bias_gelu) continue;
      store(memory.aux, i * p.c_leading + j, result, value);
      value = gelu(value);
    }
  }
}

inline void multiply(const Product& p, const ProductMemory& memory) {
  const std::size_t a_rows = p.a_transposed ? p.k : p.m, a_columns = p.a_transposed ? p.m : p.k;
  const std::size_t b_rows = p.b_transposed ? p.n : p.k, b_columns = p.b_transposed ? p.k : p.n;
  // Sums are not rounded to TF32.
  const bool wide = p.wide || bytes_of(p.operands) == 4;
  const Operands result = wide ? Operands::f32 : p.operands;
  const auto a = widened(memory.a, a_rows, a_columns, p.a_leading, p.operands);
  const auto b = widened(memory.b, b_rows, b_columns, p.b_leading, p.operands);
  std::vector<float> c(p.m * p.n);
  if (memory.beta != 0) c = widened(memory.c, p.m, p.n, p.c_leading, result);
  const auto op = [](bool transposed) { return transposed ? Op::transposed : Op::plain; };
  gemm({p.m, p.n, p.k}, {a.data(), a_columns, op(p.a_transposed)},
       {b.data(), b_columns, op(p.b_transposed)}, memory.beta, c.data(), p.n);
  finish(p, memory, b, c, result);
  for (std::size_t i = 0; i < c.size(); ++i) {
    store(memory.c, i / p.n * p.c_leading + i % p.n, result, c[i]);
  }
}

}  // namespace detail

/// Has what the real one has.
class Blas {
 public:
  static constexpr std::size_t workspace_bytes = std::size_t{1} << 20;

  Blas(cudaStream_t stream, std::byte*) : stream_(stream) { use_one_blas_thread(); }

  void tune(bool) noexcept {}

  bool supports(const Product& product, const ProductMemory&) const {
    return product.epilogue == Epilogue::none || !standin::refuses_epilogues;
  }

  bool pays(const Product& fused, const ProductMemory& memory, double) const {
    return supports(fused, memory);
  }

  void run(const Product& product, const ProductMemory& memory) {
    if (!supports(product, memory)) {
      throw Error(Fault::device, "cuBLAS has no algorithm for a product of " + text_of(product) +
                                     " on this GPU: choose another precision.");
    }
    check(standin::enqueue(stream_, [=] { detail::multiply(product, memory); }),
          "queueing a matrix product");
  }

 private:
  cudaStream_t stream_;
};

}  // namespace feedrate::inline v0::cuda
