// SPDX-License-Identifier: Apache-2.0
// Shows a gate on the screen, writes it in the formats that were asked for, and says its exit code.
#pragma once

#include <string>
#include <vector>

#include "feedrate/report/formats/formats.hpp"
#include "feedrate/report/gate/gate.hpp"

namespace CLI {
class App;
}

namespace feedrate {

/// A file to write; "-" is standard output.
struct FormatFile {
  const Format* format = nullptr;
  std::string path;
};

struct GateOutput {
  std::vector<FormatFile> files;
  Undecided undecided = Undecided::exit_3;
  bool json = false;   ///< JSON instead of the screen
  bool quiet = false;  ///< only the verdict and the failures
};

/// Adds --write FORMAT=FILE and --undecided. Reading them throws Error(usage) on a format that is
/// not known, and on a file that can't be written.
void add_gate_output(CLI::App& app, GateOutput& output);

/// Prints the screen or JSON, replaces the files, and returns the exit code. The screen goes to
/// standard error where standard output holds a document. Throws Error(internal) where something
/// could not be written, once all else is.
int finish_gate(const Gate& gate, const GateOutput& output);

}  // namespace feedrate
