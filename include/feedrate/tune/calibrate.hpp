// SPDX-License-Identifier: Apache-2.0
// Calibration: the parts of the pipeline measured alone, before anything is coupled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "feedrate/tune/sweep.hpp"

namespace feedrate {
namespace detail {

/// Rounds of parts may be short: they only bound what is measured properly later.
inline RoundOptions part_options(const Sweep& sweep) {
  RoundOptions options = sweep.round_options();
  options.seconds /= 2;
  options.max_seconds = options.seconds;
  options.min_batches = 2;
  return options;
}

/// The rate of a step of a smaller batch, which stands in where the larger one is too slow.
inline std::optional<PartRate> smaller_batch_rate(const Sweep& sweep, const Bounds& bounds,
                                                  Config config) {
  std::optional<PartRate> rate;
  for (const Trial& trial : sweep.outcome().trials) {
    Config smaller = config;
    smaller.batch = trial.config.batch;
    if (smaller.batch < config.batch && bounds.device(smaller)) rate = bounds.device(smaller);
  }
  return rate;
}

inline void calibrate_device(Sweep& sweep, const Config& config) {
  Bounds& bounds = sweep.bounds();
  if (bounds.device(config)) return;
  auto smaller = smaller_batch_rate(sweep, bounds, config);
  if (smaller && 4 * config.batch / smaller->samples_per_s > sweep.longest_round_s()) {
    smaller->predicted = true;
    return bounds.set_device(config, *smaller);
  }
  const auto round = sweep.try_part(config, "calibrate", [&] {
    return sweep.pipeline().device_alone(config, part_options(sweep));
  });
  if (round) bounds.set_device(config, PartRate::of(*round));
}

inline void calibrate_loader(Sweep& sweep, const Config& config) {
  if (sweep.bounds().loader(config)) return;
  const auto round = sweep.try_part(config, "calibrate", [&] {
    return sweep.pipeline().loader_alone(config, part_options(sweep));
  });
  if (round) sweep.bounds().set_loader(config, PartRate::of(*round));
}

}  // namespace detail

/// Measures loader and device ceilings of the space, small batches first, and notes for each
/// trial the rate that it can't exceed. Uses up to a quarter of the budget.
inline void calibrate(Sweep& sweep) {
  constexpr double share = 0.25;
  std::vector<Config> configs;
  for (const Trial& trial : sweep.outcome().trials) configs.push_back(trial.config);
  std::stable_sort(configs.begin(), configs.end(),
                   [](const Config& a, const Config& b) { return a.batch < b.batch; });
  for (const Config& config : configs) {
    if (sweep.stopped() || sweep.is_past(share)) break;
    detail::calibrate_loader(sweep, config);
    detail::calibrate_device(sweep, config);
  }
  for (Trial& trial : sweep.outcome().trials) {
    trial.predicted_samples_per_s = sweep.bounds().samples_per_s(trial.config).value_or(0);
  }
}

/// The fastest step among those measured.
inline DeviceCeiling best_device(const Sweep& sweep, const Bounds& bounds) {
  DeviceCeiling best;
  for (const Trial& trial : sweep.outcome().trials) {
    const auto rate = bounds.device(trial.config);
    if (rate && rate->samples_per_s > best.samples_per_s) {
      best = {trial.config, rate->samples_per_s, rate->predicted};
    }
  }
  return best;
}

}  // namespace feedrate
