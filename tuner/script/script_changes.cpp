// SPDX-License-Identifier: Apache-2.0
// What ScriptTrials asks the hook of the script's source, its data and its step.
#include <algorithm>

#include "feedrate/measure/statistics.hpp"
#include "feedrate/report/json/fields.hpp"
#include "feedrate/report/levers.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/settings.hpp"
#include "hook/decoding.hpp"
#include "journal/request_json.hpp"
#include "script/launch_text.hpp"
#include "script/rank_answers.hpp"
#include "script/script_trials.hpp"

namespace feedrate {
namespace {

/// What PyTorch takes for prefetch_factor where a script has workers and says nothing of it.
constexpr int pytorch_prefetch = 2;
/// After so long no further change of the step is tried.
constexpr double most_levers_s = 120;

/// Pairs of rounds without a lever and with it; fewer where a step takes long.
int lever_pairs(const Trial& trial) {
  constexpr double slow_s = 0.3;
  const double batch_s = trial.config.batch / trial.samples_per_s().estimate;
  return batch_s > slow_s ? 3 : 5;
}

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
  if (config.start_method != StartMethod::own) {
    changes["multiprocessing_context"] = name_of(config.start_method);
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
      launch_text(plan_.spec.command, told.value("argv", std::vector<std::string>{}),
                  told.at("options"), told.at("environment"));
  if (!launch.empty()) settings.push_back({"command line", launch, measured_with});
}

std::vector<Setting> ScriptTrials::settings(const Outcome& outcome, std::size_t trial) {
  const Script& script = *prepared_->info.script;
  const Trial& best = outcome.trials[trial];
  std::vector<Setting> settings;
  Config now = script.config;
  Json question{{"ask", "change"}, {"changes", loader_changes(best.config)}};
  const bool sets_threads = best.config.step_threads != now.step_threads;
  if (sets_threads) question["step_threads"] = best.config.step_threads;
  if (sets_threads || !question["changes"].empty()) {
    const auto answers = ask(question, {});
    throw_if_failed(answers);
    add_change(answers.front(), settings);
    if (answers.front().value("sets_threads", false)) now.step_threads = best.config.step_threads;
  }
  const auto step = detail::torch_step_change(now, best.config, script.device);
  if (!step.empty()) settings.push_back({"pytorch", step, "the script's own step"});
  return settings;
}

/// Ranks read the same kind of files: the first one answers for all.
std::string ScriptTrials::decoding() {
  const auto answers = ask({{"ask", "decoding"}}, {.abort = plan_.stop});
  throw_if_failed(answers);
  const Json& cost = answers.front().at("decoding");
  return cost.is_null() ? std::string() : decoding_text(cost);
}

/// The gain of a change by pairs of rounds without it and with it, which the answers to `questions`
/// hold. Throws Error(data) where there is nothing to change.
WhatIf ScriptTrials::in_pairs(std::string_view name, const Trial& trial,
                              const std::vector<Json>& questions) {
  std::vector<double> rates, gains;
  for (Json question : questions) {
    question["of"] = question.at("config");
    question.erase("config");  // whatever happens is not the config's
    question["whole"] = true;
    const auto answers = ask(question, {.abort = plan_.stop});
    throw_if_failed(answers);
    if (const auto why = answers.front().find("why_not"); why != answers.front().end()) {
      throw Error(Fault::data, why->get<std::string>());
    }
    for (const Json& pair : answers.front().at("pairs")) {
      rates.push_back(pair.at(1).get<double>());
      gains.push_back(pair.at(1).get<double>() / pair.at(0).get<double>());
    }
  }
  return {std::string(name), trial.config, geometric_interval(rates, 0.05).estimate,
          geometric_interval(gains, 0.05)};
}

/// In the loop: a faster step may only wait longer for its data. All pairs are one question:
/// getting used to a lever takes long.
WhatIf ScriptTrials::with_lever(std::string_view name, const Trial& trial) {
  const RoundOptions round{.seconds = 0.3, .min_batches = 3};
  Json question = question_about({Part::coupled, trial.config, round});
  question["ask"] = "lever";
  question["lever"] = name;
  question["pairs"] = lever_pairs(trial);
  return in_pairs(name, trial, {question});
}

/// Each pair is a question of its own: a short script may end after any of them, and goes on with
/// the next one when it was launched again.
void ScriptTrials::try_cpp_loader(Outcome& outcome) {
  if (prepared_->info.script->world > 1) {
    throw Error(Fault::data, "processes that train together read the data");
  }
  const Trial trial = outcome.recommended();
  const RoundOptions round{.seconds = 1.0, .min_batches = 5};
  Json question = question_about({Part::coupled, trial.config, round});
  question["ask"] = cpp_loader.name;
  std::vector<Json> questions(static_cast<std::size_t>(lever_pairs(trial)), question);
  for (std::size_t pair = 0; pair < questions.size(); ++pair) questions[pair]["pair"] = pair;
  outcome.what_if.push_back(in_pairs(cpp_loader.name, trial, questions));
}

void ScriptTrials::try_levers(Outcome& outcome) {
  const Trial trial = outcome.recommended();
  const bool is_alone = prepared_->info.script->world == 1;
  const double began_s = TrialRunner::now_s();
  for (const StepLever& lever : step_levers) {
    std::string why = is_alone ? "the changes before it took " + format_duration(most_levers_s)
                               : "processes that train together must take the same steps";
    if (is_alone && TrialRunner::now_s() - began_s < most_levers_s) try {
        outcome.what_if.push_back(with_lever(lever.name, trial));
        continue;
      } catch (const Error& error) {
        if (error.fault() == Fault::interrupted) throw;
        why = error.what();
      }
    if (why.ends_with('.')) why.pop_back();
    outcome.not_applicable.push_back({"what_if", std::string(lever.name), why});
  }
}

}  // namespace feedrate
