// SPDX-License-Identifier: Apache-2.0
// Packs: eight neighbouring elements that a thread of a GPU reads and writes at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "feedrate/core/host_device.hpp"

namespace feedrate::inline v0 {

/// A thread that moves 16 bytes at a time keeps enough of them in flight to use the memory fully,
/// and one that moves 2 does not. Eight elements are 16 bytes of bf16 and twice that of float.
inline constexpr int pack_width = 8;

constexpr std::size_t pack_alignment(std::size_t bytes) noexcept {
  return bytes < 16 ? bytes : 16;
}

/// `width` elements, aligned as the widest access that they allow.
template <class T, int width = pack_width>
struct alignas(pack_alignment(static_cast<std::size_t>(width) * sizeof(T))) Pack {
  T at[static_cast<std::size_t>(width)];
};

/// Pack `i` of an array.
template <class T>
FEEDRATE_HD Pack<T>& pack_at(T* array, std::size_t i) {
  return reinterpret_cast<Pack<T>*>(array)[i];
}
template <class T>
FEEDRATE_HD const Pack<T>& pack_at(const T* array, std::size_t i) {
  return reinterpret_cast<const Pack<T>*>(array)[i];
}

/// True where an array begins as a pack has to.
template <class T>
bool is_packed(const T* array) noexcept {
  return reinterpret_cast<std::uintptr_t>(array) % alignof(Pack<T>) == 0;
}

/// A body for `for_each` that can also do elements 8 i to 8 i + 7 at once, where its arrays
/// allow it (`packs`). Launchers for a GPU use that; the CPU's compiler makes vectors by itself.
template <class F>
concept PackedBody = requires(const F& f, std::size_t i) {
  { f.packs() } -> std::convertible_to<bool>;
  f.pack(i);
};

}  // namespace feedrate::inline v0
