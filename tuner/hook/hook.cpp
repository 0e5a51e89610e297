// SPDX-License-Identifier: Apache-2.0
#include "hook/hook.hpp"

#include <cstdlib>
#include <string>

#include "hook/python_files.hpp"

namespace feedrate {

void add_hook(LaunchSpec& spec, const ControlSocket& socket) {
  write_python_files(socket.folder());
  const char* path = std::getenv("PYTHONPATH");
  const std::string others = path && *path ? ":" + std::string(path) : "";
  spec.environment.emplace_back("PYTHONPATH", socket.folder() + others);
  spec.environment.emplace_back("FEEDRATE_ATTACH", socket.socket_path());
}

}  // namespace feedrate
