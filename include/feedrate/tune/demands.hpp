// SPDX-License-Identifier: Apache-2.0
// Service demands: what each part of the pipeline costs, fitted to a handful of short probes.
#pragma once

#include <optional>
#include <vector>

#include "feedrate/core/config.hpp"

namespace feedrate {

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

  double operator()(int batch) const noexcept { return alpha_s + beta_s * batch; }
};

/// What the step costs in one precision and with so many threads.
struct StepDemand {
  Precision precision = Precision::fp32;
  int step_threads = 1;
  StepTime time;
  double cpu_s_per_sample = 0;
  double variability = 0;  ///< squared coefficient of variation of the time per step
};

/// What the parts cost; zero or empty where it was not measured.
struct Demands {
  double cores = 1;               ///< that loader and step share
  double serial_s = 0;            ///< to load one sample in the caller, without workers
  ScalabilityLaw loader;          ///< of the workers, draining into nothing
  double loader_cpu_s = 0;        ///< core-seconds to load one sample
  double loader_variability = 0;  ///< squared coefficient of variation of the time per batch
  std::vector<StepDemand> steps;
  std::optional<double> copy_pinned;    ///< samples/s
  std::optional<double> copy_pageable;  ///< samples/s

  const StepDemand* step(const Config& config) const noexcept {
    for (const StepDemand& step : steps) {
      if (step.precision == config.precision && step.step_threads == config.step_threads) {
        return &step;
      }
    }
    return nullptr;
  }
};

}  // namespace feedrate
