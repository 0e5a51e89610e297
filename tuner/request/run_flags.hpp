// SPDX-License-Identifier: Apache-2.0
// The flags of a run, in the groups of the help. Each throws Error(usage) on text that means
// nothing.
#pragma once

#include "request/request.hpp"

namespace feedrate {

void add_data(CLI::App& app, DataRequest& data);
void add_axes(CLI::App& app, RequestedAxes& axes);
void add_search(CLI::App& app, SearchRequest& search);
void add_device(CLI::App& app, DeviceName& device);
void add_constraints(CLI::App& app, Constraints& constraints);
void add_command(CLI::App& app, CommandRequest& command);
void add_output(CLI::App& app, OutputRequest& output);

}  // namespace feedrate
