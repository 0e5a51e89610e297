// SPDX-License-Identifier: Apache-2.0
#include "hook/hook.hpp"

#include <cstdlib>
#include <string>

#include "feedrate/report/json/trial_json.hpp"
#include "hook/python_files.hpp"

namespace feedrate {

void add_hook(LaunchSpec& spec, const ControlSocket& socket) {
  write_python_files(socket.folder());
  const char* path = std::getenv("PYTHONPATH");
  const std::string others = path && *path ? ":" + std::string(path) : "";
  spec.environment.emplace_back("PYTHONPATH", socket.folder() + others);
  spec.environment.emplace_back("FEEDRATE_ATTACH", socket.socket_path());
}

void add_settings(LaunchSpec& spec, const Script& script, const Config& config) {
  spec.environment.emplace_back("FEEDRATE_LOADER", std::to_string(script.loader.index));
  spec.environment.emplace_back("FEEDRATE_PLAIN", "1");
  spec.environment.emplace_back("FEEDRATE_LEAVES_OUT", "1");  // bad batches, as while it is tuned
  if (config == script.config) return;
  Json settings = to_json(config);
  settings["device"] = script.device;
  settings["own_precision"] = name_of(script.config.precision);
  spec.environment.emplace_back("FEEDRATE_CONFIG", settings.dump());
}

}  // namespace feedrate
