// SPDX-License-Identifier: Apache-2.0
// The hook: the Python files that a launched script loads, and how they find autotune.
#pragma once

#include "feedrate/report/script.hpp"
#include "process/control_socket.hpp"
#include "process/launch.hpp"

namespace feedrate {

/// Writes the hook's files beside the socket, and puts both into the environment of the launch.
void add_hook(LaunchSpec& spec, const ControlSocket& socket);

/// Tells the hook the loader, and the settings where they differ from the script's own: from the
/// start on, for the whole launch.
void add_settings(LaunchSpec& spec, const Script& script, const Config& config);

}  // namespace feedrate
