// SPDX-License-Identifier: Apache-2.0
#include "script/hook.hpp"

#include <cstdlib>
#include <string>

#include "script/python_files.hpp"

namespace feedrate {

void add_hook(LaunchSpec& spec, const ControlSocket& rendezvous) {
  write_python_files(rendezvous.folder());
  const char* path = std::getenv("PYTHONPATH");
  const std::string others = path && *path ? ":" + std::string(path) : "";
  spec.environment.emplace_back("PYTHONPATH", rendezvous.folder() + others);
  spec.environment.emplace_back("FEEDRATE_ATTACH", rendezvous.socket_path());
}

}  // namespace feedrate
