// SPDX-License-Identifier: Apache-2.0
#include "command/command_spec.hpp"

#include <array>
#include <cstdlib>
#include <utility>

namespace feedrate {
namespace {

/// Variables by which trackers of experiments are switched off, by their own documentation.
constexpr std::array<std::pair<const char*, const char*>, 5> tracker_switches = {{
    {"WANDB_MODE", "disabled"},
    {"COMET_MODE", "DISABLED"},
    {"NEPTUNE_MODE", "debug"},
    {"CLEARML_OFFLINE_MODE", "1"},
    {"SWANLAB_MODE", "disabled"},
}};

}  // namespace

LaunchSpec launch_of(const CommandRequest& command) {
  LaunchSpec spec{command.words, {}, command.folder, command.keep_state};
  if (command.rate && !std::getenv("PYTHONUNBUFFERED"))
    spec.environment.emplace_back("PYTHONUNBUFFERED", "1");  // lines come at once
  if (command.keep_trackers) return spec;
  for (const auto& [name, value] : tracker_switches) {
    if (!std::getenv(name)) spec.environment.emplace_back(name, value);
  }
  return spec;
}

}  // namespace feedrate
