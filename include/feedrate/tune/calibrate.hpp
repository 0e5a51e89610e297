// SPDX-License-Identifier: Apache-2.0
// Calibration: the parts of the pipeline measured alone, before anything is coupled.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
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

/// The measured rates of the same step with smaller batches, by batch.
inline std::map<int, PartRate> smaller_batches(Sweep& sweep, const Config& config) {
  std::map<int, PartRate> rates;
  for (const Trial& trial : sweep.outcome().trials) {
    Config smaller = config;
    smaller.batch = trial.config.batch;
    const auto rate = sweep.bounds().device(smaller);
    if (smaller.batch < config.batch && rate && !rate->predicted) rates[smaller.batch] = *rate;
  }
  return rates;
}

/// The rate of a step as its smaller batches predict it: where two of them are equally fast per
/// sample, or where measuring would take more than a fortieth of the budget.
inline std::optional<PartRate> predict_device(Sweep& sweep, const Config& config) {
  const auto rates = smaller_batches(sweep, config);
  if (rates.empty()) return std::nullopt;
  PartRate last = rates.rbegin()->second;
  last.predicted = true;
  const bool slow = 3 * config.batch / last.samples_per_s > sweep.options().budget_s / 40;
  if (rates.size() < 2) return slow ? std::optional(last) : std::nullopt;
  const double gain = last.samples_per_s / std::next(rates.rbegin())->second.samples_per_s;
  return slow || std::abs(gain - 1) < 0.05 ? std::optional(last) : std::nullopt;
}

inline void calibrate_device(Sweep& sweep, const Config& config) {
  Bounds& bounds = sweep.bounds();
  if (bounds.device(config)) return;
  if (const auto rate = predict_device(sweep, config)) return bounds.set_device(config, *rate);
  const auto round = sweep.try_part(config, "calibrate", [&] {
    return sweep.measurer().run({Part::device, config, part_options(sweep)});
  });
  if (round) bounds.set_device(config, PartRate::of(*round));
}

/// The config of so many workers with the most batches ahead, and the smallest batch with which
/// they hold four samples for each worker: fewer would bound the loader by its ring.
inline Config roomiest(const Sweep& sweep, Config config) {
  for (const Trial& trial : sweep.outcome().trials) {
    if (trial.config.workers != config.workers) continue;
    config.prefetch = std::max(config.prefetch, trial.config.prefetch);
  }
  int largest = config.batch;
  for (const Trial& trial : sweep.outcome().trials) largest = std::max(largest, trial.config.batch);
  while (config.batch < largest && config.batch * (config.prefetch + 1) < 4 * config.workers) {
    config.batch = std::min(2 * config.batch, largest);
  }
  return config;
}

inline void calibrate_loader(Sweep& sweep, const Config& wanted) {
  if (sweep.bounds().loader(wanted)) return;
  const Config config = roomiest(sweep, wanted);
  const auto round = sweep.try_part(config, "calibrate", [&] {
    return sweep.measurer().run({Part::loader, config, part_options(sweep)});
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
    if (rate && !rate->predicted && rate->samples_per_s > best.samples_per_s) {
      best = {trial.config, rate->samples_per_s};
    }
  }
  return best;
}

}  // namespace feedrate
