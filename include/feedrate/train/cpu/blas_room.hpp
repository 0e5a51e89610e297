// SPDX-License-Identifier: Apache-2.0
// Whether a limit on address space leaves room for what a BLAS takes for itself.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/core/thread.hpp"

namespace feedrate::inline v0 {

/// Throws OutOfMemory where `ulimit -v` leaves no room for the buffers of so many threads that call
/// a BLAS: OpenBLAS takes 128 MiB for each at its first product, keeps them, and where they can't
/// be had tries again for ever. Source: blas_memory_alloc in driver/others/memory.c of OpenBLAS
/// 0.3.21. The first call asks for 64 MiB more: the library itself, which may not be loaded yet,
/// takes 36 MiB in Debian 12.
inline void require_blas_room(int threads) {
  constexpr std::size_t each = std::size_t{132} << 20, most = std::size_t{1} << 40;
  constexpr std::size_t library = std::size_t{64} << 20;
  static Mutex mutex;
  static int granted = 0;  // threads that have room
  rlimit limit{};
  const MutexLock lock(mutex);
  const bool is_limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (!is_limited || threads <= granted) return;
  const std::size_t buffers = std::min(most, static_cast<std::size_t>(threads - granted) * each);
  const std::size_t bytes = buffers + (granted == 0 ? library : 0);
  void* const room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) {
    throw OutOfMemory("The limit on address space (ulimit -v " +
                      std::to_string(limit.rlim_cur >> 10) +
                      ") leaves no room for the BLAS, which "
                      "takes 128 MiB for each of " +
                      std::to_string(threads) + " threads: raise it, or use fewer threads.");
  }
  ::munmap(room, bytes);
  granted = threads;
}

}  // namespace feedrate::inline v0
