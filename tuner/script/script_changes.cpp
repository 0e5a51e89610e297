// SPDX-License-Identifier: Apache-2.0
// What ScriptTrials asks the hook of the script's source and its data.
#include "feedrate/report/json/fields.hpp"
#include "feedrate/report/text/settings.hpp"
#include "hook/decoding.hpp"
#include "script/launch_text.hpp"
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

/// The change of its source, and that of its command line.
void ScriptTrials::add_change(const Json& told, std::vector<Setting>& settings) const {
  constexpr const char* measured_with = "PyTorch's DataLoader";
  std::string diff, patch;
  detail::read(told, "diff", diff);
  if (!told.at("patch").is_null()) detail::read(told, "patch", patch);
  if (!diff.empty()) settings.push_back({"pytorch", diff, measured_with, patch});
  const std::string launch =
      launch_text(plan_.spec.command, told.at("options"), told.at("environment"));
  if (!launch.empty()) settings.push_back({"command line", launch, measured_with});
}

std::vector<Setting> ScriptTrials::settings(const Outcome& outcome, std::size_t trial) {
  const Script& script = *prepared_->info.script;
  const Trial& best = outcome.trials[trial];
  std::vector<Setting> settings;
  if (const Json changes = loader_changes(best.config); !changes.empty()) {
    const auto answers = ask({{"ask", "change"}, {"changes", changes}}, {});
    throw_if_failed(answers);
    add_change(answers.front(), settings);
  }
  const auto step = detail::torch_step_change(script.config, best.config, script.device);
  if (!step.empty()) settings.push_back({"pytorch", step, "the script's own step"});
  return settings;
}

/// Ranks read the same kind of files: the first one answers for all.
std::string ScriptTrials::decoding() {
  const auto answers = ask({{"ask", "decoding"}}, {});
  throw_if_failed(answers);
  const Json& cost = answers.front().at("decoding");
  return cost.is_null() ? std::string() : decoding_text(cost);
}

}  // namespace feedrate
