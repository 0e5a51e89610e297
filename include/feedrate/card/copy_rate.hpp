// SPDX-License-Identifier: Apache-2.0
// The rate of memory copies: the ceiling of every part that moves a batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "feedrate/card/probe.hpp"
#include "feedrate/machine/limits.hpp"

namespace feedrate::inline v0 {

namespace detail {

/// Copies a block that doesn't stay in a core's own caches.
class CopyWork {
 public:
  explicit CopyWork(std::size_t bytes) : from_(bytes, 1), to_(bytes, 2) {}

  /// Bytes copied; each is read once and written once.
  double operator()() {
    std::memcpy(to_.data(), from_.data(), from_.size());
    asm volatile("" : : "r"(to_.data()) : "memory");  // the copy is never read: keep it
    return static_cast<double>(from_.size());
  }

 private:
  std::vector<std::uint8_t> from_;
  std::vector<std::uint8_t> to_;
};

/// 64 MiB, or less where all cores together would take more than a sixteenth of the free memory.
inline std::size_t copy_block_bytes(const Limits& limits) noexcept {
  const auto cores = static_cast<std::uint64_t>(limits.cpus.usable);
  const std::uint64_t share = limits.memory.free_bytes / 16 / (2 * cores);
  return std::clamp<std::uint64_t>(share, 1 << 20, 64 << 20);
}

}  // namespace detail

/// Bytes copied per second by memcpy.
inline CoreRates probe_copy(const Limits& limits, ProbeTime time = {}) {
  const std::size_t bytes = detail::copy_block_bytes(limits);
  return core_rates(
      limits.cpus.usable, [bytes] { return detail::CopyWork(bytes); }, time);
}

}  // namespace feedrate::inline v0
