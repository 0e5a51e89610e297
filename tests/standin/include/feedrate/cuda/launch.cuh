// SPDX-License-Identifier: Apache-2.0
// Stand-in for the launchers: the same bodies as host functions, in the order of the stream.
#pragma once

#include <cstddef>
#include <utility>

#include "feedrate/cuda/check.hpp"
#include "feedrate/train/cpu/cpu.hpp"
#include "feedrate/train/kernels/pack.hpp"

namespace feedrate::inline v0::cuda {

namespace detail {

/// A launch finds what an earlier call has left behind, as on a real device.
template <class Work>
void launch(cudaStream_t stream, Work&& work) {
  check(standin::enqueue(stream, std::forward<Work>(work)), "starting a kernel");
  check(cudaGetLastError(), "starting a kernel");
}

}  // namespace detail

/// f(i) for 0 <= i < n; in packs where a GPU would do that.
template <class F>
void for_each(cudaStream_t stream, std::size_t n, const F& f) {
  if (n == 0) return;
  const auto work = [n, f] {
    std::size_t i = 0;
    if constexpr (PackedBody<F>) {
      if (f.packs()) {
        for (; i + pack_width <= n; i += pack_width) f.pack(i / pack_width);
      }
    }
    for (; i < n; ++i) f(i);
  };
  detail::launch(stream, work);
}

/// f(group, row) for 0 <= row < rows, the group being one lane.
template <class F>
void for_rows(cudaStream_t stream, std::size_t rows, std::size_t, const F& f) {
  if (rows == 0) return;
  detail::launch(stream, [rows, f] { Cpu{}.for_rows(rows, f); });
}

}  // namespace feedrate::inline v0::cuda
