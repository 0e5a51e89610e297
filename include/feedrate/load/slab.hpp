// SPDX-License-Identifier: Apache-2.0
// A slab: the memory of all slots of a loader.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/core/quantity.hpp"

namespace feedrate::inline v0 {

/// What kind of memory a slab is.
enum class SlabKind : std::uint8_t {
  plain,   ///< ordinary pages
  huge,    ///< 2 MiB pages where the kernel grants them
  pinned,  ///< page-locked, for asynchronous copies to a GPU
};

constexpr std::string_view name_of(SlabKind kind) noexcept {
  constexpr std::string_view names[] = {"plain", "huge", "pinned"};
  return names[static_cast<std::size_t>(kind)];
}

/// Owned memory, page aligned. Whether a wish such as huge pages came true, what it cost and why
/// not are values, so that nothing falls back in silence.
class Slab {
 public:
  using Free = void (*)(std::byte* data, std::size_t bytes) noexcept;

  Slab() = default;
  Slab(std::byte* data, std::size_t bytes, SlabKind kind, double setup_s, std::string reason,
       Free free)
      : data_(data),
        bytes_(bytes),
        kind_(kind),
        setup_s_(setup_s),
        reason_(std::move(reason)),
        free_(free) {}
  Slab(Slab&& other) noexcept { *this = std::move(other); }
  Slab& operator=(Slab&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(kind_, other.kind_);
    std::swap(setup_s_, other.setup_s_);
    std::swap(reason_, other.reason_);
    std::swap(free_, other.free_);
    return *this;
  }
  ~Slab() {
    if (data_) free_(data_, bytes_);
  }

  std::byte* data() const noexcept { return data_; }     ///< its first byte
  std::size_t bytes() const noexcept { return bytes_; }  ///< how large it is
  SlabKind kind() const noexcept { return kind_; }       ///< what it is
  /// Seconds that getting the memory ready took.
  double setup_s() const noexcept { return setup_s_; }
  /// Why the kind is not the one that was asked for; empty when it is.
  const std::string& reason() const noexcept { return reason_; }
  /// Sets that reason.
  void explain(std::string reason) { reason_ = std::move(reason); }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  SlabKind kind_ = SlabKind::plain;
  double setup_s_ = 0;
  std::string reason_;
  Free free_ = nullptr;
};

/// Large slabs want huge pages: 1.5 % more images per second, measured with bench/images.cpp.
constexpr SlabKind kind_for(std::size_t bytes) noexcept {
  return bytes >= std::size_t{8} << 20 ? SlabKind::huge : SlabKind::plain;
}

/// Throws OutOfMemory: so many bytes for a slab are not available.
[[noreturn]] inline void refuse_slab(std::size_t bytes) {
  throw OutOfMemory("There is no memory of " + format_bytes(bytes) +
                    " for the batches: choose a smaller batch or prefetch.");
}

/// Pages of the process, all touched, so that no page fault falls into a measurement. With `huge`
/// the kernel is asked for 2 MiB pages. Where `soon` is given none is touched, and the first `soon`
/// bytes are plain pages, which the kernel has sooner. Throws OutOfMemory if there is no such
/// memory.
inline Slab make_slab(std::size_t bytes, SlabKind wish = SlabKind::plain,
                      std::optional<std::size_t> soon = std::nullopt) {
  constexpr std::size_t page = 4096;
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const double start_s = SteadyClock{}.now_s();
  const std::size_t unit = wish == SlabKind::huge ? huge_page : page;
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  void* memory = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) refuse_slab(rounded);
  auto* data = static_cast<std::byte*>(memory);
  const std::size_t plain = soon.value_or(0) / huge_page * huge_page;
  const bool huge = wish == SlabKind::huge && plain < rounded &&
                    madvise(data + plain, rounded - plain, MADV_HUGEPAGE) == 0;
  for (std::size_t i = 0; !soon && i < rounded; i += page) data[i] = std::byte{0};
  const Slab::Free unmap = [](std::byte* pages, std::size_t size) noexcept { munmap(pages, size); };
  return {data,
          rounded,
          huge ? SlabKind::huge : SlabKind::plain,
          SteadyClock{}.now_s() - start_s,
          wish == SlabKind::plain || huge ? "" : "plain pages: this kernel grants no others here",
          unmap};
}

/// In the place of a slab that is too small, which may be page-locked. Throws as make_slab does.
inline Slab make_larger_slab(const Slab& before, std::size_t bytes,
                             std::optional<std::size_t> soon) {
  Slab slab = make_slab(bytes, kind_for(bytes), soon);
  if (before.kind() == SlabKind::pinned) {
    slab.explain("not page-locked: the slab has " + format_bytes(before.bytes()) +
                 ", and the batches take " + format_bytes(bytes));
  }
  return slab;
}

}  // namespace feedrate::inline v0
