// SPDX-License-Identifier: Apache-2.0
// The ceiling of matrix products: one large square product, repeated.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/cuda/device.hpp"
#include "feedrate/cuda/launch.cuh"
#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/stream.hpp"
#include "feedrate/cuda/train/blas.hpp"
#include "feedrate/cuda/train/step.hpp"
#include "feedrate/train/noise.hpp"

namespace feedrate::inline v0::cuda {
namespace {

/// Rows of square matrices whose product keeps so many multiprocessors busy for some waves. A small
/// GPU would be at the largest one for seconds.
std::size_t extent_for(int multiprocessors) {
  const auto wanted = static_cast<std::size_t>(768 * std::sqrt(multiprocessors));
  return std::min((wanted + 255) / 256 * 256, std::size_t{8192});
}

/// Random operands: on zeros a product draws less power and is faster than any real one.
template <class Storage>
double measure(Operands operands, cudaStream_t stream, double seconds) {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current GPU");
  const std::size_t extent = extent_for(describe_device(device).multiprocessors);
  const std::size_t elements = extent * extent;
  const DeviceMemory matrices(3 * elements * sizeof(Storage)), workspace(Blas::workspace_bytes);
  auto* const a = reinterpret_cast<Storage*>(matrices.data());
  for_each(stream, 2 * elements, Noise<Storage>{a});
  Blas blas(stream, workspace.data());
  const Product product{extent, extent, extent, operands, false,
                        false,  false,  extent, extent,   extent};
  const ProductMemory memory{.a = a, .b = a + elements, .c = a + 2 * elements};
  blas.tune(true);
  blas.run(product, memory);
  Event start(Event::Kind::timed), end(Event::Kind::timed);
  std::vector<double> times_s;
  for (double spent_s = 0; spent_s < seconds || times_s.size() < 3; spent_s += times_s.back()) {
    start.record(stream);
    blas.run(product, memory);
    end.record(stream);
    wait_until([&] { return end.done(); }, 60, "a matrix product");
    times_s.push_back(end.seconds_since(start));
  }
  std::ranges::nth_element(times_s,
                           times_s.begin() + static_cast<std::ptrdiff_t>(times_s.size() / 2));
  const auto rows = static_cast<double>(extent);
  return 2 * rows * rows * rows / times_s[times_s.size() / 2];
}

}  // namespace

double product_flops_per_s(Precision precision, cudaStream_t stream, double seconds) {
  if (precision == Precision::bf16) return measure<BFloat16>(Operands::bf16, stream, seconds);
  if (precision == Precision::fp16) return measure<Float16>(Operands::f16, stream, seconds);
  const bool tf32 = precision == Precision::tf32;
  return measure<float>(tf32 ? Operands::tf32 : Operands::f32, stream, seconds);
}

}  // namespace feedrate::inline v0::cuda
