// SPDX-License-Identifier: Apache-2.0
// The remedies for a GPU with a low clock, in words.
#pragma once

#include <cmath>
#include <string>

#include "feedrate/machine/slowdown.hpp"

namespace feedrate::inline v0 {

/// "400 of 700 W".
inline std::string limit_text(const GpuState& gpu) {
  const auto watts = [](double value) { return std::to_string(std::lround(value)); };
  return watts(gpu.power_limit_w) + " of " + watts(gpu.default_power_limit_w) + " W";
}

/// What to do about it, a sentence.
inline std::string remedy_of(Slowdown slowdown, const GpuState& gpu) {
  switch (slowdown) {
    case Slowdown::heat:
      return "Cool the GPU: check its fans and the airflow ('nvidia-smi -q -d TEMPERATURE').";
    case Slowdown::power_brake:
      return "Check the power supply and the server's power management: they slow the GPU down.";
    case Slowdown::hardware:
      return "Check the GPU's cooling, power cables and power supply: it protects itself.";
    case Slowdown::lowered_limit: {
      const auto maker_w = std::lround(gpu.default_power_limit_w);
      return "Raise the GPU's power limit to the default: 'sudo nvidia-smi -pl " +
             std::to_string(maker_w) + "'.";
    }
    case Slowdown::none:
      return "Check 'nvidia-smi -q -d CLOCK'; 'sudo nvidia-smi -rgc' unlocks locked clocks, "
             "'-rac' resets application clocks.";
    case Slowdown::power_cap:
      break;
  }
  return "";
}

}  // namespace feedrate::inline v0
