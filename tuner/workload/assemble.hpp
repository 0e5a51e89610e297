// SPDX-License-Identifier: Apache-2.0
// Shared by all workloads: a source of samples, a model, and steps on the cpu.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workload/workloads.hpp"

namespace feedrate {

/// A workload whose samples come from `source`, and whose model reads `field` of a batch.
PreparedWorkload assemble(std::string name, std::shared_ptr<const Source> source,
                          const ModelSpec& model, const OptimizerSpec& optimizer,
                          const std::string& field, std::uint64_t seed);

/// Throws Error(usage): samples that lie in memory as they are have no such variant.
std::shared_ptr<const Source> no_variant(Variant variant);

}  // namespace feedrate
