// SPDX-License-Identifier: Apache-2.0
// Makes the step of a model in a precision that is known only at run time, on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "feedrate/core/config.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/core/half.hpp"
#include "feedrate/train/cpu/cpu_step.hpp"

namespace feedrate::inline v0 {

/// True for the precisions that exist on the device `cpu`.
constexpr bool cpu_supports(Precision precision) noexcept {
  return precision == Precision::fp32 || precision == Precision::bf16;
}

namespace detail {

[[noreturn]] inline void refuse_on_cpu(Precision precision) {
  throw Error(Fault::usage, "The precision " + std::string(name_of(precision)) +
                                " is not applicable on the device cpu; use fp32 or bf16.");
}

}  // namespace detail

/// A step on the CPU for batches of up to `batch` samples. Throws Error(usage) for a precision
/// that is not applicable there, and as CpuStep does.
inline std::unique_ptr<AnyStep> make_step(const ModelSpec& model, const OptimizerSpec& optimizer,
                                          Precision precision, std::size_t batch, int threads,
                                          std::uint64_t seed = 0) {
  if (precision == Precision::fp32) {
    return std::make_unique<CpuStep<float>>(model, optimizer, batch, threads, seed);
  }
  if (precision == Precision::bf16) {
    return std::make_unique<CpuStep<BFloat16>>(model, optimizer, batch, threads, seed);
  }
  detail::refuse_on_cpu(precision);
}

/// Bytes that such a step will hold, without making it. Throws Error(usage) likewise.
inline std::size_t step_bytes(const ModelSpec& model, const OptimizerSpec& optimizer,
                              Precision precision, std::size_t batch, int threads) {
  if (precision == Precision::fp32) {
    return CpuStep<float>::bytes_of(model, optimizer, batch, threads);
  }
  if (precision == Precision::bf16) {
    return CpuStep<BFloat16>::bytes_of(model, optimizer, batch, threads);
  }
  detail::refuse_on_cpu(precision);
}

}  // namespace feedrate::inline v0
