// SPDX-License-Identifier: Apache-2.0
// What was different when a baseline was measured again: other processes, and the machine's speed.
#pragma once

#include <optional>
#include <vector>

#include "check/measure_again.hpp"

namespace feedrate {

/// Blocks in which other processes took at most a tenth of the CPUs more than when the baseline was
/// made. Does not see the rates.
std::vector<CheckBlock> undisturbed(const std::vector<CheckBlock>& blocks, const Trial& base);

/// How fast this machine is today, by its card over that of the baseline: from the lowest to the
/// highest ratio of their rates, and the geometric mean. What only takes time is as fast anywhere.
/// Empty where a card is missing.
std::optional<Interval> card_ratio(const Report& base, const std::optional<MachineCard>& card);

}  // namespace feedrate
