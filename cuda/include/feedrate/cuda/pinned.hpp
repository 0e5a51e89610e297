// SPDX-License-Identifier: Apache-2.0
// Pinned slabs: page-locked host memory, which a GPU reads without the host.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "feedrate/core/quantity.hpp"
#include "feedrate/cuda/check.hpp"
#include "feedrate/load/slab.hpp"
#include "feedrate/machine/limits.hpp"

namespace feedrate::inline v0::cuda {

/// How memory gets pinned.
enum class PinnedKind : std::uint8_t {
  registered,      ///< ordinary or huge pages, touched by several threads and then registered
  write_combined,  ///< taken from the runtime; slow to read for the host
};

namespace detail {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Calls `free` with the device current that `owner` names. A slab may be freed by any thread, and
/// gets neither of them: the device's number is stored after the slab's end.
template <class Free>
void free_on(const std::byte* owner, Free&& free) noexcept {
  int device = 0, current = 0;
  std::memcpy(&device, owner, sizeof device);
  const bool moves = cudaGetDevice(&current) == cudaSuccess && current != device;
  if (moves) cudaSetDevice(device);
  if (!device_hangs) free();
  if (moves) cudaSetDevice(current);
  cudaGetLastError();  // a lost device must not be found by the next check of another one
}

inline void free_write_combined(std::byte* data, std::size_t bytes) noexcept {
  free_on(data + bytes, [&] { cudaFreeHost(data); });
}

/// Why memory could not be pinned, in the runtime's words, with what else is known.
inline std::string why_unpinned(const char* call, cudaError_t status, std::size_t bytes) {
  cudaGetLastError();
  std::string why = std::string("not pinned: ") + call + " says '" + cudaGetErrorString(status) +
                    "' for " + format_bytes(bytes);
  const auto memlock = read_limits().memlock_bytes;
  if (memlock && *memlock < bytes) {
    why += "; this process may lock " + format_bytes(*memlock) + " (ulimit -l)";
  }
  return why;
}

/// Pages of the process, huge ones where they are many and the kernel grants them, with one more
/// behind the end.
class Pages {
 public:
  explicit Pages(std::size_t bytes) {
    const bool large = kind_for(bytes) == SlabKind::huge;
    const std::size_t unit = large ? huge_page_bytes : page_bytes;
    bytes_ = std::max(unit, (bytes + unit - 1) / unit * unit);
    void* const memory = mmap(nullptr, bytes_ + page_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) refuse_slab(bytes_);
    data_ = static_cast<std::byte*>(memory);
    huge_ = large && madvise(data_, bytes_, MADV_HUGEPAGE) == 0;
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (data_) free(data_, bytes_);
  }

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// Touches all but the one behind the end, in parts that the threads draw. With threads <= 0: as
  /// many as there are usable CPUs, at most 16.
  void touch(int threads) {
    if (threads <= 0) threads = std::min(read_limits().cpus.usable, 16);
    std::atomic<std::size_t> drawn{0};
    const auto touch_parts = [&] {
      for (std::size_t at; (at = drawn.fetch_add(huge_page_bytes)) < bytes_;) {
        const std::size_t end = std::min(bytes_, at + huge_page_bytes);
        for (std::size_t i = at; i < end; i += page_bytes) data_[i] = std::byte{0};
      }
    };
    std::vector<std::jthread> helpers;
    try {
      for (int t = 1; t < threads; ++t) helpers.emplace_back(touch_parts);
    } catch (const std::system_error&) {  // no more threads: those that began do it
    }
    touch_parts();
  }

  /// Hands the pages over to a slab.
  Slab into_slab(bool pinned, double start_s, std::string reason, Slab::Free release) {
    const SlabKind unpinned = huge_ ? SlabKind::huge : SlabKind::plain;
    return {std::exchange(data_, nullptr),
            bytes_,
            pinned ? SlabKind::pinned : unpinned,
            SteadyClock{}.now_s() - start_s,
            std::move(reason),
            release};
  }

  static void free(std::byte* data, std::size_t bytes) noexcept {
    munmap(data, bytes + page_bytes);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool huge_ = false;
};

inline void free_registered(std::byte* data, std::size_t bytes) noexcept {
  free_on(data + bytes, [&] { cudaHostUnregister(data); });
  Pages::free(data, bytes);
}

inline Slab make_registered_slab(std::size_t wanted_bytes, int threads) {
  const double start_s = SteadyClock{}.now_s();
  Pages pages(wanted_bytes);
  pages.touch(threads);
  const std::size_t bytes = pages.bytes();
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  std::memcpy(pages.data() + bytes, &device, sizeof device);
  if (!status) status = cudaHostRegister(pages.data(), bytes, cudaHostRegisterPortable);
  if (!status) return pages.into_slab(true, start_s, "", free_registered);
  if (is_sticky(status)) refuse(status, "pinning memory");
  std::string reason = why_unpinned("cudaHostRegister", status, bytes);
  return pages.into_slab(false, start_s, std::move(reason), Pages::free);
}

inline Slab make_write_combined_slab(std::size_t wanted_bytes, int threads) {
  const double start_s = SteadyClock{}.now_s();
  const std::size_t bytes = std::max<std::size_t>(1, wanted_bytes);
  int device = 0;
  void* memory = nullptr;
  cudaError_t status = cudaGetDevice(&device);
  if (!status) {
    status = cudaHostAlloc(&memory, bytes + sizeof device,
                           cudaHostAllocPortable | cudaHostAllocWriteCombined);
  }
  if (!status) {
    auto* const data = static_cast<std::byte*>(memory);
    std::memcpy(data + bytes, &device, sizeof device);
    return {
        data, bytes, SlabKind::pinned, SteadyClock{}.now_s() - start_s, "", free_write_combined};
  }
  if (is_sticky(status)) refuse(status, "pinning memory");
  std::string reason = why_unpinned("cudaHostAlloc", status, bytes);
  Pages pages(wanted_bytes);
  pages.touch(threads);
  return pages.into_slab(false, start_s, std::move(reason), Pages::free);
}

}  // namespace detail

/// Memory for a loader's slots, pinned for all GPUs and all touched; its setup_s() is what that
/// cost. Where it can't be pinned the slab is of another kind, and its reason() says why. `threads`
/// touch the pages; 0: as many as there are usable CPUs, at most 16. Throws OutOfMemory when there
/// is no such memory at all, DeviceLost.
///
/// To free it waits for the device: do that when no step is to be timed any more.
inline Slab make_pinned_slab(std::size_t bytes, PinnedKind kind = PinnedKind::registered,
                             int threads = 0) {
  return kind == PinnedKind::registered ? detail::make_registered_slab(bytes, threads)
                                        : detail::make_write_combined_slab(bytes, threads);
}

}  // namespace feedrate::inline v0::cuda
