// SPDX-License-Identifier: Apache-2.0
#include "script/fresh_launches.hpp"

#include <memory>
#include <string>
#include <utility>

#include "hook/hook.hpp"

namespace feedrate {
namespace {

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
  plan.start_s = script.start_s;
  plan.timeout_s = script.start_s + options.timeout_s;  // it may import and compile for minutes
  plan.with_config = [script](const LaunchSpec& bare, const Config& config) {
    LaunchSpec spec = bare;
    add_settings(spec, script, config);
    return spec;
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
