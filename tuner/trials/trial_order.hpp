// SPDX-License-Identifier: Apache-2.0
// What a trial child is told to prepare: the part of a request that it needs, and the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "feedrate/report/json/machine_json.hpp"
#include "request/request.hpp"
#include "workload/device.hpp"

namespace feedrate {

struct TrialOrder {
  DataRequest data;
  TrainingDevice device;
  std::uint64_t seed = 0;
  /// Samples that the trials of this run use; 0: as many as there is room for. Where they are known
  /// so is the device, and what it can do at best is not measured again.
  std::size_t cached_samples = 0;
};

Json to_json(const TrialOrder& order);
void from_json(const Json& json, TrialOrder& order);

}  // namespace feedrate
