// SPDX-License-Identifier: Apache-2.0
// What differs between the machine and data of a baseline and those of today.
#pragma once

#include <string>
#include <vector>

#include "feedrate/report/report.hpp"

namespace feedrate {

/// A phrase for each fact of the machine that differs, such as "CPU model: A, was B"; empty on the
/// machine that made the baseline. `card` is today's; null where none was measured.
std::vector<std::string> machine_differences(const Report& base, const Machine& now,
                                             const MachineCard* card);

/// The same of the data. What holds other samples can't be compared at all.
std::vector<std::string> data_differences(const WorkloadInfo& base, const WorkloadInfo& now);

}  // namespace feedrate
