// SPDX-License-Identifier: Apache-2.0
// Groups of threads that share a row: a part of a warp, or a block.
#pragma once

#include <cstddef>

namespace feedrate::inline v0::cuda {

/// `width` neighbouring threads of one warp: 4, 8, 16 or 32. Bodies of rows are compiled for the
/// host as well, where these are never called.
template <unsigned width>
class WarpGroup {
 public:
  __host__ __device__ std::size_t lane() const { return index(); }
  __host__ __device__ std::size_t lanes() const { return width; }

  __host__ __device__ float sum(float value) const {
#if defined(__CUDA_ARCH__)
    for (unsigned step = width / 2; step > 0; step /= 2) {
      value += __shfl_xor_sync(mask(), value, step);
    }
#endif
    return value;
  }

  __host__ __device__ float max(float value) const {
#if defined(__CUDA_ARCH__)
    for (unsigned step = width / 2; step > 0; step /= 2) {
      const float other = __shfl_xor_sync(mask(), value, step);
      value = other > value ? other : value;
    }
#endif
    return value;
  }

 private:
  __host__ __device__ static unsigned index() {
#if defined(__CUDA_ARCH__)
    return threadIdx.x % width;
#else
    return 0;
#endif
  }

#if defined(__CUDA_ARCH__)
  /// Only the lanes of this group: the others of the warp may be at another row, or done.
  __device__ static unsigned mask() {
    if (width == 32) return 0xffffffffu;
    return ((1u << (width % 32)) - 1) << (threadIdx.x % 32 / width * width);
  }
#endif
};

/// All `threads` of a block. They must all come to each `sum` and `max`. `shared` has room for one
/// float per warp.
template <unsigned threads>
class BlockGroup {
 public:
  static constexpr unsigned warps = threads / 32;
  static_assert((warps & (warps - 1)) == 0 && warps <= 32);

  __host__ __device__ explicit BlockGroup(float* shared) : shared_(shared) {}

  __host__ __device__ std::size_t lane() const {
#if defined(__CUDA_ARCH__)
    return threadIdx.x;
#else
    return 0;
#endif
  }
  __host__ __device__ std::size_t lanes() const {
    return threads;
  }

  __host__ __device__ float sum(float value) const {
    return WarpGroup<warps>().sum(exchange(WarpGroup<32>().sum(value)));
  }
  __host__ __device__ float max(float value) const {
    return WarpGroup<warps>().max(exchange(WarpGroup<32>().max(value)));
  }

 private:
  /// Gives lane i of each warp the value of warp i. The first barrier keeps a fast warp from
  /// overwriting what a slow one still reads from the exchange before.
  __host__ __device__ float exchange(float value) const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
    if (threadIdx.x % 32 == 0) shared_[threadIdx.x / 32] = value;
    __syncthreads();
    return shared_[threadIdx.x % warps];
#else
    return value;
#endif
  }

  float* shared_;
};

}  // namespace feedrate::inline v0::cuda
