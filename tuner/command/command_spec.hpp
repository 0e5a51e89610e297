// SPDX-License-Identifier: Apache-2.0
// How the user's command is launched.
#pragma once

#include "process/launch.hpp"
#include "request/request.hpp"

namespace feedrate {

/// With trackers of experiments switched off, unless they shall be kept; in a copy of its folder
/// where the state is to be kept.
LaunchSpec launch_of(const CommandRequest& command);

}  // namespace feedrate
