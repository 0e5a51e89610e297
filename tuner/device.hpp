// SPDX-License-Identifier: Apache-2.0
// The device that --device names: the cpu, or an accelerator that is emulated.
#pragma once

#include <optional>
#include <string>

#include "feedrate/train/accelerators.hpp"

namespace feedrate {

/// The accelerator that "emulated:CARD/WORKLOAD" or "emulated:SECONDS@BATCH" stands for; empty for
/// the cpu. Throws Error(usage) on a name that means nothing, Error(device) on a device that is not
/// to be had.
std::optional<Accelerator> emulated_accelerator(const std::string& device);

}  // namespace feedrate
