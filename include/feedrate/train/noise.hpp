// SPDX-License-Identifier: Apache-2.0
// Pseudo-random numbers for measurements: zeros would take less power than real data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "feedrate/core/host_device.hpp"

namespace feedrate::inline v0 {

/// x[i] = something in [-1, 1) that hardly depends on its neighbours. For each element. Source of
/// the mixing: M. O'Neill, "PCG: a family of simple fast space-efficient statistically good
/// algorithms for random number generation", 2014 (PCG-RXS-M-XS-32).
template <class T>
struct Noise {
  T* x;

  FEEDRATE_HD void operator()(std::size_t i) const {
    const std::uint32_t state = static_cast<std::uint32_t>(i) * 747796405u + 2891336453u;
    const std::uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    const std::uint32_t bits = (word >> 22) ^ word;
    x[i] = T(static_cast<float>(bits >> 8) * 0x1p-23f - 1.0f);
  }
};

}  // namespace feedrate::inline v0
