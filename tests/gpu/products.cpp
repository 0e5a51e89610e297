// SPDX-License-Identifier: Apache-2.0
// Tests of matrix products on a GPU against sums in double.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/cuda/train/blas.hpp"
#include "feedrate/train/kernels/kernels.hpp"
#include "mirror.hpp"

using namespace feedrate;
using namespace feedrate::test;
using cuda::Epilogue;
using cuda::Operands;
using cuda::Product;

namespace {

template <class T>
constexpr Operands operands_of() {
  if (std::is_same_v<T, BFloat16>) return Operands::bf16;
  return std::is_same_v<T, Float16> ? Operands::f16 : Operands::f32;
}

/// Element (row, column) of a matrix that may lie transposed in memory.
template <class T>
double element(const std::vector<T>& x, bool transposed, std::size_t leading, std::size_t row,
               std::size_t column) {
  return double{
      static_cast<float>(x[transposed ? column * leading + row : row * leading + column])};
}

/// Runs one product on random numbers; relative errors of C and of the bias' gradient.
template <class T, class Result>
struct Trial {
  double product = 0, bias = 0, aux = 0;
  bool refused = false;

  Trial(Product p, float beta, bool tune) {
    const cuda::Stream stream;
    const cuda::DeviceMemory workspace(cuda::Blas::workspace_bytes);
    cuda::Blas blas(stream.handle(), workspace.data());
    blas.tune(tune);
    Mirror<T> a(random_numbers<T>(p.a_leading * (p.a_transposed ? p.k : p.m), 1), stream);
    Mirror<T> b(random_numbers<T>(p.b_leading * (p.b_transposed ? p.n : p.k), 2), stream);
    Mirror<Result> c = beta == 0 ? Mirror<Result>(p.m * p.n, stream)
                                 : Mirror<Result>(random_numbers<Result>(p.m * p.n, 3), stream);
    Mirror<Result> vector(random_numbers<Result>(p.n, 4), stream);
    Mirror<Result> before(p.m * p.n, stream);
    const cuda::ProductMemory memory{.a = a.at(true),
                                     .b = b.at(true),
                                     .c = c.at(true),
                                     .bias = vector.at(true),
                                     .aux = before.at(true),
                                     .beta = beta};
    // A product that is tuned is run several times, each on top of the last.
    if (tune) memory_check(beta);
    refused = !blas.supports(p, memory);
    if (refused) return;
    blas.run(p, memory);
    std::vector<float> entered(p.m * p.n), expected(p.m * p.n), sums(p.n);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      entered[i] = one(p, a, b, c, vector, beta, i / p.n, i % p.n);
      expected[i] = activated(p.epilogue, entered[i]);
    }
    for (std::size_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < p.k; ++k)
        sum += element(b.host(), p.b_transposed, p.b_leading, k, j);
      sums[j] = static_cast<float>(sum);
    }
    product = distance_of(widened(c.device()), expected);
    if (p.epilogue == Epilogue::bias_gelu) aux = distance_of(widened(before.device()), entered);
    if (p.epilogue == Epilogue::bias_gradient) bias = distance_of(widened(vector.device()), sums);
  }

 private:
  static void memory_check(float beta) { REQUIRE(beta == 0); }

  static float one(const Product& p, const Mirror<T>& a, const Mirror<T>& b,
                   const Mirror<Result>& c, const Mirror<Result>& bias, float beta, std::size_t i,
                   std::size_t j) {
    double sum = 0;
    for (std::size_t k = 0; k < p.k; ++k) {
      sum += element(a.host(), p.a_transposed, p.a_leading, i, k) *
             element(b.host(), p.b_transposed, p.b_leading, k, j);
    }
    if (beta != 0) sum += double{beta} * double{static_cast<float>(c.host()[i * p.n + j])};
    const bool adds = p.epilogue != Epilogue::none && p.epilogue != Epilogue::bias_gradient;
    if (adds) sum += double{static_cast<float>(bias.host()[j])};
    return static_cast<float>(sum);
  }

  static float activated(Epilogue epilogue, float sum) {
    if (epilogue == Epilogue::bias_relu) return std::max(sum, 0.0f);
    return epilogue == Epilogue::bias_gelu ? gelu(sum) : sum;
  }

  static std::vector<float> widened(const std::vector<Result>& x) {
    std::vector<float> wide(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) wide[i] = static_cast<float>(x[i]);
    return wide;
  }
};

Product product_of(std::size_t m, std::size_t n, std::size_t k, Operands operands) {
  return {
      .m = m, .n = n, .k = k, .operands = operands, .a_leading = k, .b_leading = n, .c_leading = n};
}

struct Size {
  std::size_t m, n, k;
};
constexpr Size sizes[] = {{1, 1, 1},     {3, 5, 7},       {17, 10, 64},
                          {64, 32, 152}, {130, 129, 131}, {256, 128, 512}};

}  // namespace

TEMPLATE_TEST_CASE("Products are those of a sum in double, however operands lie", "", float,
                   BFloat16, Float16) {
  // Bug: row-major taken for column-major, or one operand for the other.
  const Operands operands = operands_of<TestType>();
  const double bound = sizeof(TestType) == 4 ? 1e-5 : 1e-2;
  for (const Size& s : sizes) {
    for (int way = 0; way < 4; ++way) {
      Product p = product_of(s.m, s.n, s.k, operands);
      p.a_transposed = way % 2 != 0;
      p.b_transposed = way / 2 != 0;
      p.a_leading = (p.a_transposed ? s.m : s.k) + 3;
      p.b_leading = p.b_transposed ? s.k : s.n;
      const Trial<TestType, TestType> trial(p, 0, way == 0);
      CHECK_FALSE(trial.refused);
      CHECK(trial.product <= bound);
    }
    Product wide = product_of(s.m, s.n, s.k, operands);
    wide.wide = true;
    wide.a_transposed = true;
    wide.a_leading = s.m;
    CHECK(Trial<TestType, float>(wide, 1, false).product <= 1e-5);
  }
}

TEST_CASE("TF32 stays within what its ten bits resolve, and fp32 does not use it") {
  // Bug: fp32 that is computed in TF32 by a default of the library.
  Product p = product_of(130, 128, 512, Operands::tf32);
  CHECK(Trial<float, float>(p, 0, true).product <= 1e-3);
  p.operands = Operands::f32;
  CHECK(Trial<float, float>(p, 0, true).product <= 1e-6);
}

TEMPLATE_TEST_CASE("Epilogues add the bias per column, activate the sum, and sum the columns", "",
                   float, BFloat16, Float16) {
  // Bug: a bias per row, or sums of the other operand. Where the library refuses, the step has
  // kernels of its own: that is told as a warning.
  const double bound = sizeof(TestType) == 4 ? 1e-5 : 1e-2;
  for (const Size& s : sizes) {
    // The largest one has rows of a multiple of 16 bytes: there the library must have them all.
    const bool aligned = s.k == 512;
    Product p = product_of(s.m, s.n, s.k, operands_of<TestType>());
    for (Epilogue epilogue : {Epilogue::bias, Epilogue::bias_relu, Epilogue::bias_gelu}) {
      p.epilogue = epilogue;
      const Trial<TestType, TestType> trial(p, 0, true);
      if (trial.refused) WARN("no fused bias for " << text_of(p));
      CHECK_FALSE((aligned && trial.refused));
      CHECK(trial.product <= bound);
      CHECK(trial.aux <= bound);
    }
    p.wide = true;
    p.a_transposed = true;
    p.a_leading = s.m;
    p.epilogue = Epilogue::bias_gradient;
    const Trial<TestType, float> trial(p, 0, true);
    if (trial.refused) WARN("no fused gradient of a bias for " << text_of(p));
    CHECK_FALSE((aligned && trial.refused));
    CHECK(trial.product <= 1e-5);
    CHECK(trial.bias <= 1e-4);
  }
}
