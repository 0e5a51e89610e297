// SPDX-License-Identifier: Apache-2.0
// Matrix products by any CBLAS, one thread per call: the step has its own threads.
#pragma once

#if !__has_include(<cblas.h>)
#error "feedrate/train/cpu needs a CBLAS: install libopenblas-dev, and link with -lopenblas"
#endif
#include <cblas.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/core/half.hpp"
#include "feedrate/train/cpu/blas_library.hpp"

namespace feedrate::inline v0 {

/// How an operand of a product is read.
enum class Op { plain, transposed };

/// A row-major matrix in memory; `leading` elements lie between the starts of two rows.
template <class T>
struct Operand {
  const T* data = nullptr;
  std::size_t leading = 0;
  Op op = Op::plain;
};

/// The extents of C[m x n] += A[m x k] B[k x n]. All must be positive and fit in an int.
struct Extents {
  std::size_t m = 0, n = 0, k = 0;
};

namespace detail {

/// Copies a strided rectangle into a dense one, converting to float.
inline void widen(const BFloat16* from, std::size_t leading, std::size_t rows, std::size_t columns,
                  float* to) noexcept {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) to[r * columns + c] = float(from[r * leading + c]);
  }
}

/// The slice k0 <= k < k0 + depth of an operand with `outer` rows (A) or columns (B). A float
/// operand is used where it lies. `inner_rows`: k runs over the rows of what lies in memory.
inline Operand<float> slice(const Operand<float>& x, bool inner_rows, std::size_t, std::size_t k0,
                            std::size_t, float*) noexcept {
  return {x.data + (inner_rows ? k0 * x.leading : k0), x.leading, x.op};
}

inline Operand<float> slice(const Operand<BFloat16>& x, bool inner_rows, std::size_t outer,
                            std::size_t k0, std::size_t depth, float* panel) noexcept {
  const BFloat16* const from = x.data + (inner_rows ? k0 * x.leading : k0);
  const std::size_t columns = inner_rows ? outer : depth;
  widen(from, x.leading, inner_rows ? depth : outer, columns, panel);
  return {panel, columns, x.op};
}

}  // namespace detail

/// C = A B + beta C in float. May be called from many threads at once,
/// after `blas_library` was called.
inline void gemm(const Extents& size, const Operand<float>& a, const Operand<float>& b, float beta,
                 float* c, std::size_t c_leading) {
  const auto op = [](Op o) { return o == Op::plain ? CblasNoTrans : CblasTrans; };
  const auto as_int = [](std::size_t extent) { return static_cast<int>(extent); };
  cblas_sgemm(CblasRowMajor, op(a.op), op(b.op), as_int(size.m), as_int(size.n), as_int(size.k),
              1.0f, a.data, as_int(a.leading), b.data, as_int(b.leading), beta, c,
              as_int(c_leading));
}

/// C = A B + beta C with operands of any storage type. Slices of bf16 operands are widened to
/// float in `panels` (at least m + n floats, better many more) and accumulated in float.
template <class A, class B>
void gemm(const Extents& size, const Operand<A>& a, const Operand<B>& b, float beta, float* c,
          std::size_t c_leading, std::span<float> panels) {
  const std::size_t depth = std::min(size.k, panels.size() / (size.m + size.n));
  if (depth == 0) {
    throw Error(Fault::internal, "A matrix product was given panels of " +
                                     std::to_string(panels.size()) + " floats; it needs " +
                                     std::to_string(size.m + size.n) + " at least.");
  }
  for (std::size_t k0 = 0; k0 < size.k; k0 += depth) {
    const std::size_t k = std::min(depth, size.k - k0);
    const bool a_rows = a.op == Op::transposed, b_rows = b.op == Op::plain;
    const Operand<float> a_slice = detail::slice(a, a_rows, size.m, k0, k, panels.data());
    const Operand<float> b_slice =
        detail::slice(b, b_rows, size.n, k0, k, panels.data() + size.m * depth);
    gemm({size.m, size.n, k}, a_slice, b_slice, k0 == 0 ? beta : 1.0f, c, c_leading);
  }
}

/// The same for float operands, which need no panels.
inline void gemm(const Extents& size, const Operand<float>& a, const Operand<float>& b, float beta,
                 float* c, std::size_t c_leading, std::span<float>) {
  gemm(size, a, b, beta, c, c_leading);
}

}  // namespace feedrate::inline v0
