// SPDX-License-Identifier: Apache-2.0
// What a plan takes from the report as it began: machine, card and workload.
#pragma once

#include <map>
#include <vector>

#include "feedrate/machine/environment.hpp"
#include "feedrate/report/report.hpp"
#include "workload/device.hpp"

namespace feedrate {

/// What a diagnosis may know beside the measurements.
Environment environment_of(const Report& report, const TrainingDevice& device,
                           const std::vector<ThreadPool>& thread_pools);

/// The product rates of the device that trains, where they were measured.
std::map<Precision, double> measured_peaks(const Report& report);

}  // namespace feedrate
