// SPDX-License-Identifier: Apache-2.0
// What can be planned, and refused, before any time is spent on data or on the machine.
#pragma once

#include "feedrate/machine/limits.hpp"
#include "request/request.hpp"
#include "workload/device.hpp"

namespace feedrate {

/// What trains; a command chooses itself. Throws as choose_device.
TrainingDevice device_of(const TuneRequest& request);

/// What holds for every workload on this device; of a command nothing is known yet. Throws
/// Error(usage) where the request can't be met here, Error(data) where there are no such data.
TuneOptions plan_early(const TuneRequest& request, const Limits& limits,
                       const TrainingDevice& device);

}  // namespace feedrate
