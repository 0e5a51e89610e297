// SPDX-License-Identifier: Apache-2.0
// Tests of the matrix products.
#include "feedrate/train/cpu/blas.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <thread>
#include <vector>

#include "feedrate/core/random.hpp"

namespace feedrate::blas_tests {

namespace {

/// Values that bf16 holds exactly: multiples of 1/64 below 1.
template <class T>
std::vector<T> numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed, 0, 0);
  std::vector<T> values(count);
  for (T& value : values) value = T(static_cast<float>(int(random.below(127)) - 63) / 64.0f);
  return values;
}

/// Element (row, column) of the operand as the product reads it.
template <class T>
double at(const Operand<T>& x, std::size_t row, std::size_t column) {
  if (x.op == Op::transposed) std::swap(row, column);
  return double{static_cast<float>(x.data[row * x.leading + column])};
}

/// Largest difference to a plain triple loop, for C = A B + C with C full of ones.
template <class A, class B>
double error_of(const Extents& size, Op a_op, Op b_op, std::size_t panel_floats) {
  const std::size_t pad = 3;
  const auto a_data = numbers<A>((size.m + pad) * (size.k + pad), 1);
  const auto b_data = numbers<B>((size.k + pad) * (size.n + pad), 2);
  const Operand<A> a{a_data.data(), (a_op == Op::plain ? size.k : size.m) + pad, a_op};
  const Operand<B> b{b_data.data(), (b_op == Op::plain ? size.n : size.k) + pad, b_op};
  std::vector<float> c((size.n + 1) * size.m, 1.0f), panels(panel_floats);
  gemm(size, a, b, 1.0f, c.data(), size.n + 1, panels);
  double worst = 0;
  for (std::size_t i = 0; i < size.m; ++i) {
    for (std::size_t j = 0; j < size.n; ++j) {
      double sum = 1;
      for (std::size_t k = 0; k < size.k; ++k) sum += at(a, i, k) * at(b, k, j);
      worst = std::max(worst, std::abs(sum - double{c[i * (size.n + 1) + j]}));
    }
    if (c[i * (size.n + 1) + size.n] != 1.0f) worst = 1e9;
  }
  return worst;
}

}  // namespace

TEST_CASE("Products of every orientation and storage type are those of a triple loop") {
  // Bug: a leading dimension of the wrong operand, or the gap at the end of a row is written.
  // All values are multiples of 2^-12 below 2^6: the sums are exact in float, whatever the order.
  blas_library();
  const Extents size{7, 5, 50};
  for (Op a : {Op::plain, Op::transposed}) {
    for (Op b : {Op::plain, Op::transposed}) {
      REQUIRE(error_of<float, float>(size, a, b, 0) == 0);
      REQUIRE(error_of<BFloat16, BFloat16>(size, a, b, 1 << 12) == 0);
      REQUIRE(error_of<float, BFloat16>(size, a, b, 1 << 12) == 0);
      REQUIRE(error_of<BFloat16, float>(size, a, b, 1 << 12) == 0);
    }
  }
}

TEST_CASE("Products of bf16 are the same when their panels hold one slice or only a part") {
  // Bug: a second slice overwrites the sum of the first, or the last one reads too far.
  for (std::size_t panel : {12, 25, 12 * 7, 12 * 49, 12 * 51}) {
    REQUIRE(error_of<BFloat16, BFloat16>({7, 5, 50}, Op::plain, Op::transposed, panel) == 0);
  }
  REQUIRE_THROWS_AS((error_of<BFloat16, BFloat16>({7, 5, 50}, Op::plain, Op::plain, 11)), Error);
}

TEST_CASE("Several threads may compute products at the same time") {
  // Bug: the BLAS library shares a buffer between callers.
  std::vector<double> errors(4, 1.0);
  {
    std::vector<std::jthread> threads;
    for (double& error : errors) {
      threads.emplace_back([&error] {
        error = error_of<float, float>({60, 70, 50}, Op::plain, Op::plain, 0);
      });
    }
  }
  REQUIRE(errors == std::vector<double>(4, 0.0));
}

}  // namespace feedrate::blas_tests
