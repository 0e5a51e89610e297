// SPDX-License-Identifier: Apache-2.0
// The hook: the Python files that a launched script loads, and how they find autotune.
#pragma once

#include "process/control_socket.hpp"
#include "process/launch.hpp"

namespace feedrate {

/// Writes the hook's files beside the socket, and puts both into the environment of the launch.
void add_hook(LaunchSpec& spec, const ControlSocket& socket);

}  // namespace feedrate
