// SPDX-License-Identifier: Apache-2.0
#include "ab/rated_program.hpp"

#include <memory>
#include <utility>

#include "command/command_spec.hpp"
#include "hook/hook.hpp"

namespace feedrate {
namespace {

CommandTrials make_trials(const AbRequest& request, const std::vector<std::string>& words,
                          const std::atomic<bool>* stop) {
  CommandPlan plan;
  plan.spec = launch_of(request, words);
  plan.as_written = true;
  plan.rate = request.rate;
  if (request.rate) plan.kind = RateKind::regex;
  plan.timeout_s = request.timeout_s.value_or(plan.timeout_s);
  plan.stop = stop;
  auto socket = std::make_unique<ControlSocket>();
  add_hook(plan.spec, *socket);
  plan.spec.environment.emplace_back("FEEDRATE_PLAIN", "1");
  return {std::move(plan), std::move(socket), std::nullopt};
}

}  // namespace

LaunchSpec launch_of(const AbRequest& request, const std::vector<std::string>& words) {
  return launch_of(CommandRequest{.words = words,
                                  .rate = request.rate,
                                  .folder = request.folder,
                                  .keep_trackers = request.keep_trackers});
}

RatedProgram::RatedProgram(const AbRequest& request, const std::vector<std::string>& words,
                           const std::atomic<bool>* stop)
    : trials_(make_trials(request, words, stop)) {
  options_.seconds = request.options.run_s;
  options_.abort = stop;
}

ProgramRun RatedProgram::run() {
  const Round round = trials_.run({.config = {}, .options = options_});
  const bool batches = trials_.counts_batches();
  return {{{.name = batches ? "batches_per_s" : "samples_per_s",
            .unit = batches ? "batches/s" : "samples/s",
            .value = round.samples_per_s()},
           {.name = "first_batch_s",
            .unit = "s",
            .value = round.first_batch_s,
            .higher_is_better = false,
            .judged = false}},
          round.others_share};
}

}  // namespace feedrate
