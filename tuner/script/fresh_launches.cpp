// SPDX-License-Identifier: Apache-2.0
#include "script/fresh_launches.hpp"

#include <memory>
#include <string>
#include <utility>

#include "feedrate/report/json/trial_json.hpp"
#include "hook/hook.hpp"

namespace feedrate {
namespace {

/// Tells the hook the loader, and the settings where they differ from the script's own.
LaunchSpec with_settings(LaunchSpec spec, const Script& script, const Config& config) {
  spec.environment.emplace_back("FEEDRATE_LOADER", std::to_string(script.loader.index));
  spec.environment.emplace_back("FEEDRATE_PLAIN", "1");
  if (config != script.config) {
    Json settings = to_json(config);
    settings["device"] = script.device;
    settings["own_precision"] = name_of(script.config.precision);
    spec.environment.emplace_back("FEEDRATE_CONFIG", settings.dump());
  }
  return spec;
}

/// The script was prepared before: its rate comes from the hook.
Prepared known_script() {
  Prepared known;
  known.info.rate_source = "hook";
  return known;
}

CommandTrials make_trials(LaunchSpec spec, const Script& script,
                          const FreshLaunchOptions& options) {
  auto socket = std::make_unique<ControlSocket>();
  CommandPlan plan;
  plan.spec = std::move(spec);
  add_hook(plan.spec, *socket);
  plan.timeout_s = options.timeout_s;
  plan.with_config = [script](const LaunchSpec& bare, const Config& config) {
    return with_settings(bare, script, config);
  };
  return {std::move(plan), std::move(socket), known_script()};
}

}  // namespace

FreshLaunches::FreshLaunches(LaunchSpec spec, const Script& script,
                             const FreshLaunchOptions& options)
    : options_(options), trials_(make_trials(std::move(spec), script, options)) {}

FreshRound FreshLaunches::run(const Config& config) {
  Request request;
  request.config = config;
  request.options.seconds = options_.seconds;
  request.options.abort = options_.abort;
  const Round round = trials_.run(request);
  return {round, trials_.gpu()};
}

}  // namespace feedrate
