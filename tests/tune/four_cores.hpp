// SPDX-License-Identifier: Apache-2.0
// The machine and the space that tests of the search share.
#pragma once

#include <algorithm>
#include <utility>

#include "feedrate/tune/state/options.hpp"
#include "formula_machine.hpp"

namespace feedrate {

/// Four cores: the loader scales up to them; large batches are better up to 128.
inline FormulaMachine four_cores() {
  return FormulaMachine(
      [](const Config& config) { return 250.0 * std::clamp(config.workers, 1, 4); },
      [](const Config& config) {
        const double speed = config.precision == Precision::bf16 ? 2 : 1;
        return config.batch / (0.02 + config.batch * 1.2e-3 / speed);
      });
}

/// Many configs, and more time than they need.
inline TuneOptions wide() {
  TuneOptions options;
  options.space = {.workers = {0, 1, 2, 3, 4, 6, 8},
                   .prefetch = {1, 2, 4, 8},
                   .precision = {Precision::fp32, Precision::bf16},
                   .batch = {8, 16, 32, 64, 128, 256}};
  options.cores = 4;
  options.budget_s = 600;
  return options;
}

/// The first round that `is_meant` reaches this share of its rate. Tells later whether it ran.
template <class IsMeant>
void slow_once(FormulaMachine& machine, bool& ran, double share, IsMeant&& is_meant) {
  machine.noise = [&machine, &ran, share, is_meant] {
    return is_meant(machine.asked.back()) && !std::exchange(ran, true) ? share : 1.0;
  };
}

}  // namespace feedrate
