// SPDX-License-Identifier: Apache-2.0
// Runs the bodies of a step on the GPU: for each element, or for each row by a group of threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "feedrate/cuda/check.hpp"
#include "feedrate/cuda/reduce.cuh"
#include "feedrate/train/kernels/pack.hpp"

namespace feedrate::inline v0::cuda {
namespace detail {

inline constexpr unsigned each_threads = 256, block_threads = 512;

template <class F>
__global__ void __launch_bounds__(each_threads) each_kernel(std::size_t n, const F f) {
  const std::size_t all = std::size_t{gridDim.x} * each_threads;
  for (std::size_t i = std::size_t{blockIdx.x} * each_threads + threadIdx.x; i < n; i += all) f(i);
}

template <class F>
__global__ void __launch_bounds__(each_threads) pack_kernel(std::size_t n, const F f) {
  const std::size_t all = std::size_t{gridDim.x} * each_threads, packs = n / pack_width;
  const std::size_t first = std::size_t{blockIdx.x} * each_threads + threadIdx.x;
  for (std::size_t i = first; i < packs; i += all) f.pack(i);
  for (std::size_t i = packs * pack_width + first; i < n; i += all) f(i);
}

template <unsigned width, class F>
__global__ void __launch_bounds__(each_threads) warp_kernel(std::size_t rows, const F f) {
  constexpr std::size_t per_block = each_threads / width;
  const std::size_t all = gridDim.x * per_block;
  std::size_t row = blockIdx.x * per_block + threadIdx.x / width;
  for (; row < rows; row += all) f(WarpGroup<width>(), row);
}

template <class F>
__global__ void __launch_bounds__(block_threads) block_kernel(std::size_t rows, const F f) {
  __shared__ float shared[block_threads / 32];
  const BlockGroup<block_threads> group(shared);
  for (std::size_t row = blockIdx.x; row < rows; row += gridDim.x) f(group, row);
}

/// Blocks for `work` pieces; more than a million of them begin again from the start.
inline unsigned blocks_for(std::size_t work, std::size_t per_block) noexcept {
  constexpr std::size_t most = std::size_t{1} << 20;
  return static_cast<unsigned>(std::min(most, (work + per_block - 1) / per_block));
}

inline void check_launch() {
  check(cudaGetLastError(), "starting a kernel");
}

}  // namespace detail

/// f(i) for 0 <= i < n, in any order, in the order of the stream.
template <class F>
void for_each(cudaStream_t stream, std::size_t n, const F& f) {
  if (n == 0) return;
  using namespace detail;
  if constexpr (PackedBody<F>) {
    if (f.packs()) {
      const std::size_t work = (n + pack_width - 1) / pack_width;
      pack_kernel<<<blocks_for(work, each_threads), each_threads, 0, stream>>>(n, f);
      return check_launch();
    }
  }
  each_kernel<<<blocks_for(n, each_threads), each_threads, 0, stream>>>(n, f);
  check_launch();
}

namespace detail {

template <unsigned width, class F>
void warp_rows(cudaStream_t stream, std::size_t rows, const F& f) {
  constexpr std::size_t per_block = each_threads / width;
  warp_kernel<width><<<blocks_for(rows, per_block), each_threads, 0, stream>>>(rows, f);
}

}  // namespace detail

/// f(group, row) for 0 <= row < rows, in any order; the lanes of a group share `width` elements.
/// Narrow rows get a part of a warp, so that few lanes are idle. Few wide rows get a block each,
/// since a warp alone would leave most of the GPU idle.
template <class F>
void for_rows(cudaStream_t stream, std::size_t rows, std::size_t width, const F& f) {
  if (rows == 0) return;
  using namespace detail;
  if (width <= 4) {
    warp_rows<4>(stream, rows, f);
  } else if (width < 48) {
    warp_rows<8>(stream, rows, f);
  } else if (width <= 256 || (width <= 4096 && rows >= 4096)) {
    warp_rows<32>(stream, rows, f);
  } else {
    block_kernel<<<blocks_for(rows, 1), block_threads, 0, stream>>>(rows, f);
  }
  check_launch();
}

}  // namespace feedrate::inline v0::cuda
