// SPDX-License-Identifier: Apache-2.0
// What holds a GPU's clock down, told apart: each has another remedy, and one needs none.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "feedrate/machine/environment.hpp"

namespace feedrate {

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

/// "400 of the 700 W".
inline std::string limit_text(const GpuState& gpu) {
  const auto watts = [](double value) { return std::to_string(std::lround(value)); };
  return watts(gpu.power_limit_w) + " of the " + watts(gpu.default_power_limit_w) + " W";
}

/// What to do against it, a sentence.
inline std::string remedy_of(Slowdown slowdown, const GpuState& gpu) {
  switch (slowdown) {
    case Slowdown::heat:
      return "Cool it better: check its fans and the airflow, and 'nvidia-smi -q -d TEMPERATURE'.";
    case Slowdown::power_brake:
      return "Check the power supply and the server's power management: they tell it to slow down.";
    case Slowdown::hardware:
      return "Check its cooling, its power cables and the power supply: the card protects itself.";
    case Slowdown::lowered_limit: {
      const auto maker_w = std::lround(gpu.default_power_limit_w);
      return "Raise its power limit to the default: 'sudo nvidia-smi -pl " +
             std::to_string(maker_w) + "'.";
    }
    case Slowdown::none:
      return "Look at 'nvidia-smi -q -d CLOCK': 'sudo nvidia-smi -rgc' ends locked clocks, and "
             "'-rac' application clocks.";
    case Slowdown::power_cap:
      break;
  }
  return "";
}

}  // namespace feedrate
