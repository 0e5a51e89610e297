// SPDX-License-Identifier: Apache-2.0
// What holds a GPU's clock down, told apart: each has another remedy, and one needs none.
#pragma once

#include <algorithm>

#include "feedrate/machine/environment.hpp"

namespace feedrate::inline v0 {

/// The most urgent last; where there are several, that one.
enum class Slowdown {
  none,           ///< the driver names nothing
  power_cap,      ///< the card takes all the power that its maker allows: normal under full load
  lowered_limit,  ///< it takes all the power that somebody has limited it to, below the maker's
  hardware,       ///< the card protects itself: heat, supply or a surge, it does not say which
  heat,
  power_brake,  ///< the power supply or the chassis tells it to slow down
};

/// Whether somebody allows the GPU less power than its maker does.
inline bool has_lowered_limit(const GpuState& gpu) noexcept {
  return gpu.power_limit_w > 0 && gpu.power_limit_w < 0.99 * gpu.default_power_limit_w;
}

inline Slowdown slowdown_of(const GpuState& gpu) {
  const auto by = [&](const char* reason) {
    return std::find(gpu.throttled_by.begin(), gpu.throttled_by.end(), reason) !=
           gpu.throttled_by.end();
  };
  if (by(slowed_by::power_brake)) return Slowdown::power_brake;
  if (by(slowed_by::heat) || by(slowed_by::heat_in_hardware)) return Slowdown::heat;
  if (by(slowed_by::hardware)) return Slowdown::hardware;
  if (!by(slowed_by::power_cap)) return Slowdown::none;
  return has_lowered_limit(gpu) ? Slowdown::lowered_limit : Slowdown::power_cap;
}

}  // namespace feedrate::inline v0
