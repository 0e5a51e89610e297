// SPDX-License-Identifier: Apache-2.0
// Prepares what is tuned: finds or makes the workload, and puts its samples where trials need them.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "request/options.hpp"
#include "workload/workloads.hpp"

namespace feedrate {

/// Finds the default batches that a device's memory holds.
using FitBatches = void (*)(PreparedWorkload&, const SweepOptions&, const TrainingDevice&);

/// How a preparation goes.
struct Preparation {
  std::function<void(const std::string&)> say = [](const std::string&) {};
  std::function<void(int done, int wanted)> progress = [](int, int) {};
  /// Called now and then by what may take long and has nothing to say.
  std::function<void()> alive = [] {};
  const std::atomic<bool>* stop = nullptr;
  FitBatches fit = [](PreparedWorkload&, const SweepOptions&, const TrainingDevice&) {};
  /// Samples that the trials of this run use; 0: as many as there is room for. Where they are known
  /// so is the device: what it can do at best, and the batches that fit there, are left out.
  std::size_t cached_samples = 0;
};

/// Throws as prepare_workload does, and Error(usage) where the samples can't be had cold.
PreparedWorkload prepare(const SweepOptions& options, const Preparation& preparation);

}  // namespace feedrate
