// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: a key gives the same numbers on any thread and in any order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "feedrate/core/host_device.hpp"

namespace feedrate::inline v0 {

/// Philox4x32-10: a bijection of 128-bit counters under a 64-bit key.
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11.
FEEDRATE_HD inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                       std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

/// The random numbers of one sample in one epoch, a function of (seed, epoch, sample) alone.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t epoch, std::uint64_t sample) noexcept
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(sample),
                 static_cast<std::uint32_t>(sample >> 32)} {}

  /// 32 uniform bits.
  std::uint32_t next() noexcept {
    if (used_ == block_.size()) refill();
    return block_[used_++];
  }

  /// Uniform in [0, 1), 24 bits of resolution.
  float uniform() noexcept { return static_cast<float>(next() >> 8) * 0x1p-24f; }

  /// Uniform in [low, high]; `high` itself comes from rounding alone.
  float uniform(float low, float high) noexcept { return low + (high - low) * uniform(); }

  /// Uniform in {0, ..., n - 1}; the bias is below n / 2^32. n must be positive.
  std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{next()} * n) >> 32);
  }

  /// The numbers of the same sample, from 2^26 on. They are independent of those here, as long as
  /// fewer are drawn here.
  Random far_ahead() const noexcept {
    Random ahead = *this;
    ahead.counter_[0] += std::uint32_t{1} << 24;
    ahead.used_ = ahead.block_.size();
    return ahead;
  }

 private:
  void refill() noexcept {
    block_ = philox(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  std::size_t used_ = 4;
};

/// Puts a list into random order, each order as likely as any other. Source: Fisher and Yates,
/// as algorithm P in D. E. Knuth, "The Art of Computer Programming", volume 2, 3.4.2.
template <class List>
void shuffle(List& list, Random& random) {
  for (std::size_t n = list.size(); n > 1; --n) {
    std::swap(list[n - 1], list[random.below(static_cast<std::uint32_t>(n))]);
  }
}

}  // namespace feedrate::inline v0
