// SPDX-License-Identifier: Apache-2.0
// Max-pooling for GPUs, eight channels at a time: forward, and backward where windows don't
// overlap.
#pragma once

#include <cstddef>

#include "feedrate/core/host_device.hpp"
#include "feedrate/train/kernels/kernels.hpp"
#include "feedrate/train/kernels/pack.hpp"
#include "feedrate/train/kernels/pooling.hpp"

namespace feedrate::inline v0 {

/// True where a pooling's arrays can be read in packs.
template <class T>
bool pools_in_packs(const Pooling<T>& of, const T* y) {
  const bool fits = of.windows.from.channels % pack_width == 0;
  return fits && is_packed(of.x) && is_packed(y) && is_packed(of.bias);
}

/// As PoolForward. For rows that are output pixels, of channels / 8 packs.
template <class T>
struct PoolForwardPacks {
  Pooling<T> of;
  T* y;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    const std::size_t packs = of.windows.from.channels / pack_width, first = of.windows.first(row);
    for (std::size_t p = group.lane(); p < packs; p += group.lanes()) {
      const Pack<T> all = largest(first + p * pack_width);
      const Pack<float> add = pack_at(of.bias, p);
      Pack<T> out;
      for (int j = 0; j < pack_width; ++j) {
        out.at[j] = T(activate(static_cast<float>(all.at[j]) + add.at[j], of.floor));
      }
      pack_at(y, row * packs + p) = out;
    }
  }

 private:
  FEEDRATE_HD Pack<T> largest(std::size_t at) const {
    Pack<T> best = pack_at(of.x, at / pack_width);
    for (std::size_t i = 0; i < of.windows.kernel; ++i) {
      for (std::size_t k = i == 0 ? 1 : 0; k < of.windows.kernel; ++k) {
        const Pack<T> next = pack_at(of.x, (at + of.windows.offset(i, k)) / pack_width);
        for (int j = 0; j < pack_width; ++j) {
          best.at[j] = T(larger(static_cast<float>(best.at[j]), static_cast<float>(next.at[j])));
        }
      }
    }
    return best;
  }
};

/// As PoolBackward where windows don't overlap, but dy is only read. For rows that are output
/// pixels, of channels / 8 packs.
template <class T, class G>
struct PoolBackwardPacks {
  Pooling<T> of;
  const T* y;
  const G* dy;
  G* dx;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    const std::size_t packs = of.windows.from.channels / pack_width, first = of.windows.first(row);
    for (std::size_t p = group.lane(); p < packs; p += group.lanes()) {
      const Pack<T> most = pack_at(y, row * packs + p);
      const Pack<float> add = pack_at(of.bias, p);
      Pack<G> rest = pack_at(dy, row * packs + p);
      for (std::size_t i = 0; i < of.windows.kernel; ++i) {
        for (std::size_t k = 0; k < of.windows.kernel; ++k) {
          const std::size_t at = (first + of.windows.offset(i, k)) / pack_width + p;
          pack_at(dx, at) = take(pack_at(of.x, at), add, most, rest);
        }
      }
    }
  }

 private:
  /// What one element of the window gets; it is taken off the rest.
  FEEDRATE_HD Pack<G> take(const Pack<T>& in, const Pack<float>& add, const Pack<T>& most,
                           Pack<G>& rest) const {
    Pack<G> share;
    for (int j = 0; j < pack_width; ++j) {
      const T value(activate(static_cast<float>(in.at[j]) + add.at[j], of.floor));
      const bool lost = static_cast<float>(most.at[j]) > static_cast<float>(value);
      share.at[j] = lost ? G(0.0f) : rest.at[j];
      rest.at[j] = lost ? rest.at[j] : G(0.0f);
    }
    return share;
  }
};

}  // namespace feedrate::inline v0
