// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: bodies run at once, on the calling thread, with the widest vectors it has.
#pragma once

#include <cstddef>

#include "feedrate/core/host_device.hpp"
#include "feedrate/train/device.hpp"

namespace feedrate::inline v0 {

/// The group of the host: one lane, so that loops over a row are left to the vectoriser.
struct HostGroup {
  static constexpr std::size_t lane() noexcept { return 0; }
  static constexpr std::size_t lanes() noexcept { return 1; }
  static constexpr float sum(float value) noexcept { return value; }
  static constexpr float max(float value) noexcept { return value; }
};

namespace detail {

#if defined(__x86_64__) && defined(__GNUC__)
/// `flatten` inlines f and all it calls, so that they too are compiled for AVX2.
template <class F>
__attribute__((target("avx2,fma"), flatten, noinline)) void run_avx2(const F& f) {
  f();
}

inline bool has_avx2() noexcept {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
#else
template <class F>
void run_avx2(const F& f) {
  f();
}

inline constexpr bool has_avx2() noexcept {
  return false;
}
#endif

}  // namespace detail

/// Calls f(), compiled for AVX2 where the machine has it.
template <class F>
void with_best_vectors(const F& f) {
  if (detail::has_avx2()) {
    detail::run_avx2(f);
  } else {
    f();
  }
}

/// The device `cpu`, as one thread sees it.
struct Cpu {
  /// f(i) for 0 <= i < n, in any order.
  template <class F>
  void for_each(std::size_t n, const F& f) const {
    with_best_vectors([n, f] {
      FEEDRATE_INDEPENDENT
      for (std::size_t i = 0; i < n; ++i) f(i);
    });
  }

  /// f(group, row) for 0 <= row < rows, in any order.
  template <class F>
  void for_rows(std::size_t rows, const F& f) const {
    with_best_vectors([rows, f] {
      for (std::size_t row = 0; row < rows; ++row) f(HostGroup{}, row);
    });
  }
};

static_assert(Group<HostGroup> && Device<Cpu>);

}  // namespace feedrate::inline v0
