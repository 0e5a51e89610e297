// SPDX-License-Identifier: Apache-2.0
// Judges what was measured again against the baseline. A pure function of both.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/circumstances.hpp"
#include "feedrate/report/gate/gate.hpp"

namespace feedrate {

/// What was measured again, and where.
struct Remeasured {
  std::vector<CheckBlock> blocks = {};
  std::optional<MachineCard> card = {};       ///< where the baseline has one, too
  std::vector<std::string> differences = {};  ///< of the machine; empty: the same
  std::uint64_t memory_bytes = 0;
};

/// What may be required of a check.
inline constexpr std::array<MetricKind, 6> check_metrics = {{{"samples_per_s", "samples/s"},
                                                             {"fed", "1"},
                                                             {"speedup", "1"},
                                                             {"busy", "1"},
                                                             {"first_batch_s", "s", false},
                                                             {"memory_bytes", "bytes", false}}};

/// The metrics. On another machine the rate itself is not judged: only what carries over.
std::vector<GateMetric> judge(const Report& base, const Remeasured& now, const LossLimits& limits);

/// An alarm counts where fresh processes agree; `all` are the metrics by all blocks.
std::vector<GateMetric> confirmed(std::vector<GateMetric> all, const std::vector<GateMetric>& first,
                                  const std::vector<GateMetric>& second);

}  // namespace feedrate
