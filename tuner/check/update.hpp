// SPDX-License-Identifier: Apache-2.0
// A baseline with the figures of today in the place of its own.
#pragma once

#include <string>

#include "check/judge.hpp"

namespace feedrate {

/// The document: the recommended config and the reference have the rounds of today, and the key
/// `baseline` says why, when, and what was before.
Json updated(const Baseline& baseline, const Remeasured& now, const Machine& machine,
             const std::vector<GateMetric>& metrics, const std::string& reason);

/// Replaces the file by the document, and removes the journal beside it, which would bring the old
/// figures back. Throws Error(data) where that fails.
void write_baseline(const std::string& path, const Json& document);

}  // namespace feedrate
