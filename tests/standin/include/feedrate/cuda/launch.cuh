// SPDX-License-Identifier: Apache-2.0
// Stand-in for the launchers: the same bodies as host functions, in the order of the stream.
#pragma once

#include <cstddef>

#include "feedrate/cuda/check.hpp"
#include "feedrate/train/cpu.hpp"
#include "feedrate/train/pack.hpp"

namespace feedrate::cuda {

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
  check(standin::enqueue(stream, work), "starting a kernel");
}

/// f(group, row) for 0 <= row < rows, the group being one lane.
template <class F>
void for_rows(cudaStream_t stream, std::size_t rows, std::size_t, const F& f) {
  if (rows == 0) return;
  check(standin::enqueue(stream, [rows, f] { Cpu{}.for_rows(rows, f); }), "starting a kernel");
}

}  // namespace feedrate::cuda
