// SPDX-License-Identifier: Apache-2.0
// What ScriptTrials asks the hook to change in the script's source.
#include "feedrate/report/text/settings.hpp"
#include "script/rank_answers.hpp"
#include "script/script_trials.hpp"

namespace feedrate {
namespace {

/// What PyTorch takes for prefetch_factor where a script has workers and says nothing of it.
constexpr int pytorch_prefetch = 2;

}  // namespace

/// The keyword arguments to change in the script's call.
Json ScriptTrials::loader_changes(const Config& config) const {
  const Script& script = *prepared_->info.script;
  Json changes = Json::object();
  if (config.workers != script.config.workers) changes["num_workers"] = config.workers;
  const int prefetch = script.config.workers > 0 ? script.config.prefetch : pytorch_prefetch;
  if (config.workers > 0 && config.prefetch != prefetch) {
    changes["prefetch_factor"] = config.prefetch;
  }
  if (config.pinned != script.config.pinned) changes["pin_memory"] = config.pinned;
  if (config.batch != script.config.batch) changes["batch_size"] = config.batch;
  if (config.workers > 0 && config.persistent != script.persistent) {
    changes["persistent_workers"] = config.persistent;
  }
  return changes;
}

std::vector<Setting> ScriptTrials::settings(const Outcome& outcome, std::size_t trial) {
  const Script& script = *prepared_->info.script;
  const Trial& best = outcome.trials[trial];
  std::vector<Setting> settings;
  if (const Json changes = loader_changes(best.config); !changes.empty()) {
    const auto answers = ask({{"ask", "change"}, {"changes", changes}}, {});
    throw_if_failed(answers);
    settings.push_back(
        {"pytorch", answers.front().at("diff").get<std::string>(), "PyTorch's DataLoader"});
  }
  const auto step = detail::torch_step_change(script.config, best.config, script.device);
  if (!step.empty()) settings.push_back({"pytorch", step, "the script's own step"});
  return settings;
}

}  // namespace feedrate
