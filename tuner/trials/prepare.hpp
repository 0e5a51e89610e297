// SPDX-License-Identifier: Apache-2.0
// Prepares what is tuned: finds or makes the workload, and puts its samples where trials need them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "trials/trial_order.hpp"
#include "workload/workloads.hpp"

namespace feedrate {

/// How a preparation goes.
struct Preparation {
  std::function<void(const std::string&)> say = [](const std::string&) {};
  std::function<void(int done, int wanted)> progress = [](int, int) {};
  /// Called now and then by what may take long and has nothing to say.
  std::function<void()> alive = [] {};
  const std::atomic<bool>* stop = nullptr;
};

/// Throws as prepare_workload does, and Error(usage) where the samples can't be had cold.
PreparedWorkload prepare(const TrialOrder& order, const Preparation& preparation);

/// Bytes of a GPU's memory that a config of the workload needs; 0 where no GPU trains.
std::uint64_t device_bytes(const Workload& workload, const Config& config);

}  // namespace feedrate
