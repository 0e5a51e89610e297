// SPDX-License-Identifier: Apache-2.0
// Shows a gate on the screen, writes it in the formats that were asked for, and says its exit code.
#pragma once

#include "feedrate/report/gate/gate.hpp"
#include "request/request.hpp"

namespace feedrate {

/// How a gate is printed.
struct GatePrinting {
  bool json = false;   ///< JSON instead of the screen
  bool quiet = false;  ///< only the verdict and the failures
};

/// Throws Error(usage) where a file can't be written: to be called before anything is measured.
void require_writable(const GateRequest& request, const std::vector<std::string>& inputs = {});

/// Replaces the files, and returns the exit code. Throws Error(internal) where one could not be
/// written, once all others are.
int write_gate(const Gate& gate, const GateRequest& request);

/// Prints the screen or JSON, replaces the files, and returns the exit code. The screen goes to
/// standard error where standard output holds a document. Throws Error(internal) where something
/// could not be written, once all else is.
int finish_gate(const Gate& gate, const GateRequest& request, const GatePrinting& printing);

}  // namespace feedrate
