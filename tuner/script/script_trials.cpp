// SPDX-License-Identifier: Apache-2.0
#include "script/script_trials.hpp"

#include <algorithm>
#include <utility>

#include "command/command_trials.hpp"
#include "hook/hook.hpp"
#include "journal/request_json.hpp"
#include "script/greeting.hpp"
#include "script/rank_answers.hpp"
#include "trials/others_meter.hpp"
#include "trials/watched_child.hpp"

namespace feedrate {
namespace {

/// A script may take long to import and to load; so many times a trial's bound.
constexpr double attaching_patience = 5;

/// So often a script that comes to its end is launched again for one question.
constexpr int most_ends = 3;

/// So long further starts of a script, and what it does between epochs, do not count.
constexpr double most_beside_s = 60;

/// The batch of the script, and its neighbours by factors of two.
std::vector<int> batches_around(int batch) {
  std::vector<int> batches;
  if (batch >= 2) batches.push_back(batch / 2);
  for (const int factor : {1, 2, 4}) batches.push_back(batch * factor);
  return batches;
}

}  // namespace

ScriptTrials::ScriptTrials(ScriptPlan plan, std::optional<Prepared> known)
    : TrialRunner(std::move(known)),
      plan_(std::move(plan)),
      socket_(std::make_unique<ControlSocket>()) {
  add_hook(plan_.spec, *socket_);
  if (prepared_ && prepared_->info.script && plan_.loader.empty()) {
    plan_.loader = std::to_string(prepared_->info.script->loader.index);
  }
}

ScriptTrials::~ScriptTrials() = default;

void ScriptTrials::start() {
  if (attached_) return;
  const double began_s = TrialRunner::now_s();
  try {
    launch();
  } catch (const NothingToTune& nothing) {
    attach_to_most_batches(nothing);
  }
  ++launches_;
  keeps_up_.clear();
  const double took_s = TrialRunner::now_s() - began_s;
  start_s_ = took_s - attached_->copying_s();
  (launches_ == 1 ? first_start_s_ : beside_s_) += took_s;
  const Prepared found = describe();
  if (prepared_) return require_same_loader(*found.info.script);
  prepared_ = found;
}

/// A script that goes on from its own checkpoint may have nothing left to train on the same data.
void ScriptTrials::require_same_loader(const Script& now) const {
  const ScriptLoader &before = prepared_->info.script->loader, &loader = now.loader;
  if (loader.file == before.file && loader.line == before.line) return;
  const auto place = [](const ScriptLoader& one) {
    return one.file + ":" + std::to_string(one.line);
  };
  throw Error(Fault::usage, "Launched again, the script trains on the DataLoader of " +
                                place(loader) + ", not on that of " + place(before) +
                                ". If it goes on from a checkpoint, add --keep-state. If you "
                                "edited it, run it without --resume.");
}

double ScriptTrials::now_s() {
  const double beside_s = beside_s_ + (attached_ ? attached_->outside_s() : 0);
  return TrialRunner::now_s() - first_start_s_ - std::min(beside_s, most_beside_s) -
         hangs_.seconds();
}

void ScriptTrials::launch() try {
  LaunchSpec spec = plan_.spec;
  if (!plan_.loader.empty()) spec.environment.emplace_back("FEEDRATE_LOADER", plan_.loader);
  attached_ = std::make_unique<ScriptSession>(spec, *socket_);
  attached_->attach({.patience_s = attaching_patience * plan_.timeout_s,
                     .stop = plan_.stop,
                     .waiting = plan_.waiting,
                     .say = plan_.say});
} catch (...) {
  attached_.reset();
  throw;
}

/// This launch is over.
void ScriptTrials::detach() {
  beside_s_ += attached_->outside_s();
  attached_.reset();
}

Prepared ScriptTrials::describe() const {
  const Json& greeting = attached_->greeting();
  Prepared found;
  WorkloadInfo& info = found.info;
  info.script = script_of(greeting, start_s_);
  info.name = name_of_command(plan_.spec.command);
  info.kind = "command";
  info.rate_source = "hook";
  info.dataset = greeting.at("dataset").get<std::string>();
  info.model = "the loop of the script";
  info.path = info.script->loader.file;
  detail::read_all(greeting, "samples", info.samples, "sample_bytes", info.sample_bytes);
  info.cached_samples = info.samples;
  found.batches = batches_around(info.script->config.batch);
  return found;
}

/// A script that ran before and can't be started any more ends the run.
void ScriptTrials::require_script() try { start(); } catch (const Error& error) {
  if (prepared_ && plan_.abort && error.fault() != Fault::interrupted) plan_.abort->store(true);
  throw;
}

/// Whether a question is about another batch than the script's, which the script may not take.
bool ScriptTrials::is_of_other_batch(const Json& question) const {
  return question.contains("config") &&
         question.at("config").get<Config>().batch != prepared_->info.script->config.batch;
}

/// What a script dies of with its own settings, or with two configs that have its own batch, is its
/// own: it ends the run. Throws Error(trials) there.
void ScriptTrials::note_death(const Json& question, const ScriptDied& death) {
  if (!question.contains("config") || is_of_other_batch(question)) return;
  const Config config = question.at("config").get<Config>();
  std::vector<Config>& configs = deaths_[death.what()];
  if (std::find(configs.begin(), configs.end(), config) == configs.end()) configs.push_back(config);
  const bool of_many = configs.size() >= 2 && !death.by_signal();  // a signal may tell of memory
  if (!of_many && config != prepared_->info.script->config) return;
  if (plan_.abort) plan_.abort->store(true);
  throw Error(Fault::trials,
              std::string("The script fails whatever its loader's settings are. ") + death.what());
}

std::vector<Json> ScriptTrials::ask(const Json& question, Watch watch) {
  watch.bound_s = plan_.timeout_s;
  return hangs_.retry<ChildHung>([&] { return now_s(); }, plan_.say, plan_.stop,
                                 [&] { return ask_until_answered(question, watch); });
}

/// A script that came to its end is launched again and asked again, and one that died once more.
std::vector<Json> ScriptTrials::ask_until_answered(const Json& question, const Watch& watch) {
  std::string death;  // after the first question
  for (int ends = 1;; ++ends) {
    require_script();
    try {
      std::vector<Json> answers = attached_->ask(question, watch);
      const bool failed = std::any_of(answers.begin(), answers.end(),
                                      [](const Json& answer) { return answer.contains("failed"); });
      if (!death.empty() && !failed) findings_.add_death(death);
      return answers;
    } catch (const ScriptEnded&) {
      detach();
      if (ends >= most_ends) throw;
    } catch (const ScriptDied& died) {
      detach();
      if (!death.empty() || (died.out_of_memory() && is_of_other_batch(question))) {
        note_death(question, died);
        throw;
      }
      death = died.what();
      if (std::exchange(told_death_, death) != death) plan_.say(death + " It is launched again.");
    } catch (const Error& error) {
      detach();
      // The script is none that can be tuned, whatever the config.
      if (error.fault() == Fault::usage && plan_.abort) plan_.abort->store(true);
      throw;
    }
  }
}

/// With the number format of the script itself as its first launch showed it: all rounds are of
/// that.
Json ScriptTrials::question_about(const Request& request) const {
  Json question = question_of(request);
  question["own_precision"] = name_of(prepared_->info.script->config.precision);
  return question;
}

/// What others took is that from question to answer, so what comes before the round counts, too.
Round ScriptTrials::run(const Request& request) {
  require_script();
  const bool in_step = attached_->world() > 1 && request.part != Part::loader;
  const OthersMeter others;
  Round round = in_step ? run_exactly(request, batches_for(request)) : run_for_time(request);
  round.others_share = others.share();
  require_current_plan();
  return round;
}

void ScriptTrials::require_current_plan() {
  std::string& fixed = prepared_->info.script->start_fixed;
  const std::string& sets = findings_.dataset_sets();
  if (plan_.persistent_is_given || !fixed.empty() || sets.empty()) return;
  fixed =
      "workers that stay would not see what the script changes in its dataset between epochs: " +
      sets;
  throw PlanOutdated{
      "The script changes its dataset between epochs (" + sets +
      "), which workers that stay do not see. The search begins again, with workers that "
      "start in each epoch."};
}

std::vector<std::string> ScriptTrials::warnings() const {
  const Script& script = *prepared_->info.script;
  return findings_.warnings(plan_.persistent_is_given || script.config.persistent,
                            script.config.workers > 0);
}

Round ScriptTrials::run_for_time(const Request& request) {
  const Watch watch{.abort = request.options.abort, .progress = request.options.progress};
  const auto answers = ask(question_about(request), watch);
  throw_if_failed(answers);
  findings_.read(answers);
  Round round = together(answers, false);
  round.block = launches_ - 1;
  return round;
}

double ScriptTrials::epoch_boundary_s(const Config& config) {
  const auto answers = ask(question_of("epoch_boundary_s", config), {});
  throw_if_failed(answers);
  return answers.front().at("seconds").get<double>();
}

std::size_t ScriptTrials::memory_bytes(const Config& config) {
  const auto answers = ask(question_of("memory_bytes", config), {});
  throw_if_failed(answers);
  std::size_t bytes = 0;
  for (const Json& answer : answers) bytes += answer.at("bytes").get<std::size_t>();
  return bytes;
}

}  // namespace feedrate
