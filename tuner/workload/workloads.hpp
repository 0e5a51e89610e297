// SPDX-License-Identifier: Apache-2.0
// The workloads that autotune can run: the built-in ones, and the user's own data.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/data/delayed_dataset.hpp"
#include "feedrate/measure/pipeline.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/train/model.hpp"
#include "feedrate/train/optimizer.hpp"
#include "workload/device.hpp"

namespace feedrate {

/// A built-in workload, as `autotune workloads` lists it.
struct BuiltIn {
  std::string_view name;
  std::string_view what;
  std::vector<int> batches;  ///< the default axis
};

const std::vector<BuiltIn>& built_in_workloads();

/// What to prepare.
struct WorkloadRequest {
  std::string data;  ///< folder or .npy file; empty: the built-in `name`
  std::string labels;
  std::string name;
  Cost cost = Cost::cpu;
  double sample_cost_s = 0;
  bool dct_scaling = false;
  TrainingDevice device;
  std::uint64_t seed = 0;
  int threads = 1;                              ///< for making data
  std::function<void(const std::string&)> say;  ///< one line about what takes time
  std::function<void(int done, int wanted)> progress;
  std::function<void()> alive;  ///< called now and then by what has nothing to say
  const std::atomic<bool>* stop = nullptr;
  bool known = false;  ///< what can be said of the device was said before: it is not measured again
};

/// A workload and what is said of it.
struct PreparedWorkload {
  Workload workload;
  ModelSpec model;
  OptimizerSpec optimizer;
  WorkloadInfo info;
  std::vector<int> batches;  ///< the default axis
};

/// Throws Error(data) where `data` is nothing that can be tuned on, before any time is spent.
void check_data(const std::string& data, const std::string& labels);

/// Throws Error(usage) on an unknown name of a built-in workload.
void check_workload(const std::string& name);

/// Finds or makes the data. Throws Error(usage) on an unknown name, Error(data) on data that
/// can't be used, Error(interrupted) when it was stopped.
PreparedWorkload prepare_workload(const WorkloadRequest& request);

/// Has the what-ifs use the same part of the data as the trials: a Subset of so many samples.
void limit_variants(Workload& workload, std::size_t samples, std::uint64_t seed);

}  // namespace feedrate
