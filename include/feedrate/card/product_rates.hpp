// SPDX-License-Identifier: Apache-2.0
// The rate of matrix products on the CPU in each precision, by the calls that the step makes.
#pragma once

#include <cstddef>
#include <vector>

#include "feedrate/card/probe.hpp"
#include "feedrate/core/config.hpp"
#include "feedrate/core/half.hpp"
#include "feedrate/train/cpu/blas.hpp"

namespace feedrate::inline v0 {

/// Floating-point operations per second of matrix products; 2 per multiply-add.
struct ProductRate {
  Precision precision = Precision::fp32;
  CoreRates flops;
};

namespace detail {

/// C = A B of square matrices, small enough for a core's own cache, large enough for full speed.
template <class T>
class ProductWork {
 public:
  static constexpr std::size_t n = 512;

  /// Floating-point operations done.
  double operator()() {
    const Operand<T> a{a_.data(), n, Op::plain}, b{b_.data(), n, Op::plain};
    gemm({n, n, n}, a, b, 0.0f, c_.data(), n, panels_);
    return 2.0 * n * n * n;
  }

 private:
  std::vector<T> a_ = std::vector<T>(n * n, T(0.5f));
  std::vector<T> b_ = std::vector<T>(n * n, T(0.25f));
  std::vector<float> c_ = std::vector<float>(n * n);
  std::vector<float> panels_ = std::vector<float>(2 * n * 256);
};

template <class T>
CoreRates product_rates(int cores, ProbeTime time) {
  return core_rates(
      cores, [] { return ProductWork<T>(); }, time);
}

}  // namespace detail

/// Products in the precisions that the CPU step has: fp32, and bf16 as storage for fp32 sums.
inline std::vector<ProductRate> probe_products(int cores, ProbeTime time = {}) {
  use_one_blas_thread();
  return {{Precision::fp32, detail::product_rates<float>(cores, time)},
          {Precision::bf16, detail::product_rates<BFloat16>(cores, time)}};
}

}  // namespace feedrate::inline v0
