// SPDX-License-Identifier: Apache-2.0
// Service demands: what each part of the pipeline costs, fitted to a handful of short probes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "feedrate/core/config.hpp"

namespace feedrate::inline v0 {

/// Rate of n workers, in samples/s: X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1)).
/// Source: N. J. Gunther, "Guerrilla Capacity Planning", 2007: the Universal Scalability Law, of
/// which sigma is the contention for what is shared and kappa the cost of keeping it coherent.
struct ScalabilityLaw {
  double lambda = 0;  ///< rate of one worker
  double sigma = 0;
  double kappa = 0;

  double operator()(double n) const noexcept {
    return lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
  }
};

/// Seconds of a step: alpha + beta x batch.
struct StepTime {
  double alpha_s = 0;  ///< per step: launches, the optimizer's update
  double beta_s = 0;   ///< per sample

  double operator()(double batch) const noexcept { return alpha_s + beta_s * batch; }
};

/// What was measured at some places, by place: workers or batch.
using Measured = std::map<int, double>;

/// A fitted law, bent so that it passes through what was measured: between two places the ratio of
/// measured and law is interpolated in the logarithms, beyond them it stays.
template <class Law>
double bent(const Law& law, const Measured& measured, int at) {
  if (measured.empty()) return law(at);
  const auto log_ratio = [&](auto place) { return std::log(place->second / law(place->first)); };
  const auto above = measured.lower_bound(at);
  if (above == measured.begin()) return law(at) * std::exp(log_ratio(above));
  const auto below = std::prev(above);
  if (above == measured.end()) return law(at) * std::exp(log_ratio(below));
  const double share = std::log(static_cast<double>(at) / below->first) /
                       std::log(static_cast<double>(above->first) / below->first);
  return law(at) * std::exp((1 - share) * log_ratio(below) + share * log_ratio(above));
}

/// What the loader costs when it drains into nothing.
struct LoadDemand {
  ScalabilityLaw law;      ///< of the workers
  Measured batch_factor;   ///< rate with a batch over the rate with the batch of the others
  Measured samples_per_s;  ///< by workers, from 1
  double serial_s = 0;     ///< to load one sample in the caller, without workers
  double cpu_s = 0;        ///< core-seconds to load one sample, by one worker
  double variability = 0;  ///< squared coefficient of variation of the time per sample
  /// Rate with another place of preprocessing over the rate with that of all other probes.
  std::map<Preprocess, double> preprocess_factor = {};
  Measured cpu_s_by_workers = {};  ///< core-seconds of all for one sample, by workers, from 1

  double rate(const Config& config) const {
    const double factor =
        bent([](double) { return 1.0; }, batch_factor, config.batch) * factor_of(config.preprocess);
    return factor * (config.workers == 0 ? 1 / serial_s : bent(law, samples_per_s, config.workers));
  }

  /// Core-seconds to load one sample of a config: what preprocessing takes longer is computing.
  double cpu_seconds(const Config& config) const {
    const double seconds = config.workers == 0 || cpu_s_by_workers.empty()
                               ? cpu_s
                               : bent([](double) { return 1.0; }, cpu_s_by_workers, config.workers);
    return seconds / factor_of(config.preprocess);
  }

 private:
  double factor_of(Preprocess place) const {
    const auto found = preprocess_factor.find(place);
    return found == preprocess_factor.end() ? 1 : found->second;
  }
};

/// What the step costs in one precision, with so many threads, recorded as a graph or not; where it
/// copies its batch itself, as a script's does, from one kind of memory.
struct StepDemand {
  Precision precision = Precision::fp32;
  int step_threads = 1;
  bool graph = false;
  StepTime time;
  Measured seconds;        ///< by batch
  double cpu_s = 0;        ///< core-seconds per sample
  double variability = 0;  ///< squared coefficient of variation of the time per sample
  double launch_s = 0;     ///< per step: the host queues it; 0 where the host steps itself
  std::optional<bool> pinned = std::nullopt;  ///< the batch's memory; empty where that is no matter

  double rate(int batch) const { return batch / bent(time, seconds, batch); }
};

/// What the parts cost; empty where it was not measured.
struct Demands {
  double cores = 1;  ///< that loader and step share
  std::optional<LoadDemand> loader;
  std::vector<StepDemand> steps;
  std::optional<double> copy_pinned;    ///< samples/s
  std::optional<double> copy_pageable;  ///< samples/s
  /// Rate of copies with another place of preprocessing over that of the two above.
  std::map<Preprocess, double> copy_factor = {};

  const StepDemand* step(const Config& config) const noexcept {
    const auto found = std::find_if(steps.begin(), steps.end(), [&](const StepDemand& step) {
      return step.precision == config.precision && step.step_threads == config.step_threads &&
             step.graph == config.graph && step.pinned.value_or(config.pinned) == config.pinned;
    });
    return found == steps.end() ? nullptr : &*found;
  }

  /// Samples/s that copies allow; empty where nothing is copied.
  std::optional<double> copy(const Config& config) const noexcept {
    const std::optional<double> rate = config.pinned ? copy_pinned : copy_pageable;
    const auto factor = copy_factor.find(config.preprocess);
    if (!rate || factor == copy_factor.end()) return rate;
    return *rate * factor->second;
  }
};

}  // namespace feedrate::inline v0
