// SPDX-License-Identifier: Apache-2.0
// A matrix product on a GPU: extents, number formats, and its epilogue.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

namespace feedrate::inline v0::cuda {

/// What follows a product in the same kernel.
enum class Epilogue : std::uint8_t {
  none,
  bias,           ///< C[row, c] += bias[c]
  bias_relu,      ///< and then max(C, 0)
  bias_gelu,      ///< and then GELU of it; what entered GELU is kept in aux
  bias_gradient,  ///< bias[c] = the sum of B's column c
};

/// The number format of the operands; products are accumulated in fp32. TF32 operands lie in
/// memory as floats, and their lower 13 bits are ignored.
enum class Operands : std::uint8_t { f32, tf32, bf16, f16 };

constexpr std::size_t bytes_of(Operands operands) noexcept {
  return operands == Operands::f32 || operands == Operands::tf32 ? 4 : 2;
}

/// Row-major C[m x n] = A[m x k] B[k x n] + beta C; a transposed operand lies in memory as k x m
/// or n x k. `leading` elements lie between the starts of two rows in memory. The bias has the
/// type of C.
struct Product {
  std::size_t m = 0, n = 0, k = 0;
  Operands operands = Operands::f32;
  bool wide = false;  ///< C is in float whatever the operands are
  bool a_transposed = false, b_transposed = false;
  std::size_t a_leading = 0, b_leading = 0, c_leading = 0;
  Epilogue epilogue = Epilogue::none;

  auto operator<=>(const Product&) const = default;
};

/// Where a product's matrices lie, in the device's memory.
struct ProductMemory {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  void* bias = nullptr;  ///< read or written, as the epilogue says
  void* aux = nullptr;   ///< written by bias_gelu, with C's type and leading
  float beta = 0;
};

/// "4096x1024x512"
inline std::string text_of(const Product& product) {
  return std::to_string(product.m) + "x" + std::to_string(product.n) + "x" +
         std::to_string(product.k);
}

}  // namespace feedrate::inline v0::cuda
