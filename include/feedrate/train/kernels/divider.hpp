// SPDX-License-Identifier: Apache-2.0
// Division by a number known before a kernel starts: one multiplication and a shift.
#pragma once

#include <cstdint>

#include "feedrate/core/host_device.hpp"

namespace feedrate::inline v0 {

/// n / divisor and n % divisor for n < 2^31. A GPU has no instruction for division; index
/// arithmetic with it would cost more than the memory that a kernel reads. Source: T. Granlund,
/// P. Montgomery, "Division by invariant integers using multiplication", PLDI 1994.
class Divider {
 public:
  Divider() = default;

  /// `divisor` must be from 1 to 2^31 - 1.
  explicit Divider(std::uint32_t divisor) noexcept : divisor_(divisor) {
    std::uint32_t log2 = 0;  // rounded up
    while ((std::uint64_t{1} << log2) < divisor) ++log2;
    shift_ = 31 + log2;
    multiplier_ =
        static_cast<std::uint32_t>(((std::uint64_t{1} << shift_) + divisor - 1) / divisor);
  }

  FEEDRATE_HD std::uint32_t quotient(std::uint32_t n) const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{n} * multiplier_) >> shift_);
  }
  FEEDRATE_HD std::uint32_t remainder(std::uint32_t n) const noexcept {
    return n - quotient(n) * divisor_;
  }
  FEEDRATE_HD std::uint32_t divisor() const noexcept { return divisor_; }

 private:
  std::uint32_t divisor_ = 1, multiplier_ = 1u << 31, shift_ = 31;
};

}  // namespace feedrate::inline v0
