// SPDX-License-Identifier: Apache-2.0
#include "script/script_trials.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "command/command_trials.hpp"
#include "command/rate_ways.hpp"
#include "feedrate/report/json/script_json.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/settings.hpp"
#include "journal/request_json.hpp"
#include "script/python_files.hpp"
#include "trials/others_meter.hpp"
#include "trials/watched_child.hpp"

namespace feedrate {
namespace {

/// A script may take long to import and to load; so many times a trial's bound.
constexpr double attaching_patience = 5;

/// So often a script that comes to its end is launched again for one question.
constexpr int most_ends = 3;

/// What PyTorch takes for prefetch_factor where a script has workers and says nothing of it.
constexpr int pytorch_prefetch = 2;

ScriptLoader loader_of(const Json& json) {
  ScriptLoader loader;
  from_json(json, loader);
  return loader;
}

/// The settings that the hook tells; a script has none of those of the built-in steps.
Config config_of(const Json& told) {
  Json json = to_json(Config{});
  json.update(told);
  return json.get<Config>();
}

/// What the hook's greeting says.
Script script_of(const Json& greeting, double start_s) {
  Script script;
  script.config = config_of(greeting.at("config"));
  script.loader = loader_of(greeting.at("loader"));
  for (const Json& other : greeting.at("others")) script.others.push_back(loader_of(other));
  detail::read_all(greeting, "iterable", script.iterable, "persistent", script.persistent,
                   "batch_fixed", script.batch_fixed, "batches", script.batches, "device",
                   script.device, "gpu", script.gpu, "torch", script.torch, "python", script.python,
                   "world", script.world);
  if (const Json& copies = greeting.at("copies"); !copies.is_null()) {
    detail::read_all(copies, "copies", script.copies, "non_blocking", script.non_blocking);
  }
  script.start_s = start_s;
  return script;
}

/// The batch of the script, and its neighbours by factors of two.
std::vector<int> batches_around(int batch) {
  std::vector<int> batches;
  if (batch >= 2) batches.push_back(batch / 2);
  for (const int factor : {1, 2, 4}) batches.push_back(batch * factor);
  return batches;
}

void throw_if_failed(const std::vector<Json>& answers) {
  for (const Json& answer : answers) {
    if (answer.contains("failed")) throw_failure(answer.at("failed"));
  }
}

Round round_of(const Json& answer) {
  Round round;
  detail::read(answer, "round", round);
  return round;
}

/// The rounds that several processes ran at the same time, as one: they wait for each other in each
/// step, so that the slowest tells how long it took. What each did for itself counts at the rate at
/// which all could go: that of the slowest.
Round together(const std::vector<Json>& answers, bool in_step) {
  Round all = round_of(answers.front());
  double slowest_per_s = all.samples_per_s();
  for (std::size_t r = 1; r < answers.size(); ++r) {
    const Round round = round_of(answers[r]);
    slowest_per_s = std::min(slowest_per_s, round.samples_per_s());
    all.duration_s = std::max(all.duration_s, round.duration_s);
    all.wait_s = std::max(all.wait_s, round.wait_s);
    all.samples += round.samples;
    all.cpu_s += round.cpu_s;
    all.queue_s += round.queue_s;
    all.parked_cpu_s += round.parked_cpu_s;
    all.first_batch_s = std::max(all.first_batch_s, round.first_batch_s);
  }
  all.step_s = all.duration_s - all.wait_s;
  const double together_per_s = slowest_per_s * static_cast<double>(answers.size());
  if (!in_step) all.duration_s = static_cast<double>(all.samples) / together_per_s;
  return all;
}

[[noreturn]] void throw_nothing_to_tune(const NothingToTune& nothing) {
  const std::string told = nothing.reports
                               ? "It reports its speed; what is missing is how it takes settings, "
                                 "such as --set workers=env:NUM_WORKERS --workers 2,4."
                               : three_ways();
  const std::string said =
      nothing.last_lines.empty() ? "" : " It said last: \"" + last_line(nothing.last_lines) + "\".";
  throw Error(Fault::usage, "The command " + nothing.why + "." + said + " " + told);
}

template <class Value>
const Value* find(const std::vector<std::pair<Config, Value>>& known, const Config& config) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const auto& entry) { return entry.first == config; });
  return found == known.end() ? nullptr : &found->second;
}

}  // namespace

void add_hook(LaunchSpec& spec, const ControlSocket& rendezvous) {
  write_python_files(rendezvous.folder());
  const char* path = std::getenv("PYTHONPATH");
  const std::string others = path && *path ? ":" + std::string(path) : "";
  spec.environment.emplace_back("PYTHONPATH", rendezvous.folder() + others);
  spec.environment.emplace_back("FEEDRATE_ATTACH", rendezvous.socket_path());
}

ScriptTrials::ScriptTrials(ScriptPlan plan, std::optional<Prepared> known)
    : TrialRunner(std::move(known)),
      plan_(std::move(plan)),
      rendezvous_(std::make_unique<ControlSocket>()) {
  add_hook(plan_.spec, *rendezvous_);
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
  start_s_ = TrialRunner::now_s() - began_s;
  starting_s_ += start_s_;
  const Prepared found = describe();
  if (!prepared_) prepared_ = found;
}

void ScriptTrials::launch() try {
  LaunchSpec spec = plan_.spec;
  if (!plan_.loader.empty()) spec.environment.emplace_back("FEEDRATE_LOADER", plan_.loader);
  attached_ = std::make_unique<ScriptSession>(spec, *rendezvous_);
  attached_->attach({.patience_s = attaching_patience * plan_.timeout_s, .stop = plan_.stop});
} catch (...) {
  attached_.reset();
  throw;
}

/// A script that went through its loaders without training, as one that only predicts, is launched
/// again, and the loader with most batches is taken.
void ScriptTrials::attach_to_most_batches(const NothingToTune& nothing) {
  if (nothing.failed) {
    throw TrialError(Fault::trials, "The script " + nothing.why, nothing.last_lines);
  }
  const Json* most = nullptr;
  for (const Json& loader : nothing.loaders) {
    if (!most || loader.at("batches") > most->at("batches")) most = &loader;
  }
  if (!plan_.loader.empty() && most) {
    std::string names;
    for (const Json& loader : nothing.loaders) {
      names += (names.empty() ? "" : ", ") + loader.at("index").dump();
      if (loader.at("name").is_string()) names += " " + loader.at("name").get<std::string>();
    }
    throw Error(Fault::usage, "The script has no DataLoader '" + plan_.loader +
                                  "' that it iterates over; it has: " + names + ".");
  }
  if (!most || most->at("batches") == 0) throw_nothing_to_tune(nothing);
  plan_.loader = std::to_string(most->at("index").get<int>());
  plan_.say(
      "No loop of the script trains: it is run again, and the DataLoader with most batches is "
      "tuned.");
  try {
    launch();
  } catch (const NothingToTune& again) {
    throw_nothing_to_tune(again);
  }
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

/// Asks the script; one that came to its end is launched again and asked again.
std::vector<Json> ScriptTrials::ask(const Json& question, Watch watch) {
  watch.bound_s = plan_.timeout_s;
  for (int ends = 1;; ++ends) {
    require_script();
    try {
      return attached_->ask(question, watch);
    } catch (const ScriptEnded&) {
      attached_.reset();
      if (ends >= most_ends) throw;
    } catch (const Error&) {
      attached_.reset();
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

void ScriptTrials::note_updates(const Json& answer) {
  const Json& batches = answer.at("batches_per_update");
  if (!batches.is_null()) batches_per_update_ = batches.get<int>();
}

/// What others took is that from question to answer, so what comes before the round counts, too.
Round ScriptTrials::run(const Request& request) {
  require_script();
  const bool in_step = attached_->world() > 1 && request.part != Part::loader;
  const OthersMeter others;
  Round round = in_step ? run_exactly(request, batches_for(request)) : run_for_time(request);
  round.others_share = others.share();
  return round;
}

Round ScriptTrials::run_for_time(const Request& request) {
  const Watch watch{.abort = request.options.abort, .progress = request.options.progress};
  const auto answers = ask(question_about(request), watch);
  throw_if_failed(answers);
  note_updates(answers.front());
  Round round = together(answers, false);
  round.block = launches_ - 1;
  return round;
}

/// Processes that train together must take the same number of steps, or they wait for each other
/// for ever: the number is fixed before, and time has no say.
Round ScriptTrials::run_exactly(const Request& request, int batches) {
  Json question = question_about(request);
  question["exactly"] = batches;
  if (request.part == Part::coupled) question["warm_up"] = warm_up_of(request.config);
  const Watch watch{.abort = request.options.abort, .progress = request.options.progress};
  const auto answers = ask(question, watch);
  throw_if_failed(answers);
  note_updates(answers.front());
  if (request.part == Part::coupled) {
    remember_supply(request.config, answers);
    add_waiting(answers);
  }
  Round round = together(answers, true);
  round.block = launches_ - 1;
  return round;
}

/// Batches until the workers of every rank are at work as in the midst of a run, as a single script
/// decides by itself: once round them, unless all ranks had batches ready behind the last round.
int ScriptTrials::warm_up_of(const Config& config) const {
  const bool* keeps_up = find(keeps_up_, config);
  return keeps_up && *keeps_up ? 0 : config.workers;
}

void ScriptTrials::remember_supply(const Config& config, const std::vector<Json>& answers) {
  const bool keeps_up = std::all_of(answers.begin(), answers.end(), [&](const Json& answer) {
    return 2 * round_of(answer).ring_at_end >= config.workers * config.prefetch;
  });
  std::erase_if(keeps_up_, [&](const auto& known) { return known.first == config; });
  keeps_up_.emplace_back(config, keeps_up);
}

void ScriptTrials::add_waiting(const std::vector<Json>& answers) {
  waiting_.resize(answers.size());
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    const Round round = round_of(answers[rank]);
    waiting_[rank].wait_s += round.wait_s;
    waiting_[rank].duration_s += round.duration_s;
  }
}

/// Processes that train together go at the pace of the one that waits longest for its data: the
/// others wait for it in their steps.
std::vector<std::string> ScriptTrials::notes() const {
  if (waiting_.size() < 2) return {};
  const auto less = [](const Waiting& a, const Waiting& b) { return a.share() < b.share(); };
  const auto [least, most] = std::minmax_element(waiting_.begin(), waiting_.end(), less);
  return {"Of " + std::to_string(waiting_.size()) + " ranks, rank " +
          std::to_string(most - waiting_.begin()) + " waits longest for data, " +
          format_percent(most->share()) + " of its time; rank " +
          std::to_string(least - waiting_.begin()) + " waits least, " +
          format_percent(least->share()) + "."};
}

/// As many as take the time that was asked for, by a first short round of the config.
int ScriptTrials::batches_for(const Request& request) {
  const RoundOptions& options = request.options;
  auto& known = batch_s_[request.part];
  if (!find(known, request.config)) {
    const int few = std::max(options.min_batches, request.config.workers);
    const Round first = run_exactly(request, few);
    known.emplace_back(request.config, first.duration_s / first.batches);
  }
  const double wanted = std::ceil(options.seconds / *find(known, request.config));
  return std::clamp(static_cast<int>(std::min(wanted, 1e6)), options.min_batches,
                    options.max_batches);
}

double ScriptTrials::epoch_boundary_s(const Config& config) {
  const auto answers = ask(question_of("epoch_boundary_s", config), {});
  throw_if_failed(answers);
  double seconds = 0, persistent_s = 0;
  detail::read_all(answers.front(), "seconds", seconds, "persistent_s", persistent_s);
  saved_s_.emplace_back(config, seconds - persistent_s);
  return prepared_->info.script->persistent ? persistent_s : seconds;
}

std::size_t ScriptTrials::memory_bytes(const Config& config) {
  const auto answers = ask(question_of("memory_bytes", config), {});
  throw_if_failed(answers);
  return answers.front().at("bytes").get<std::size_t>();
}

/// The keyword arguments to change in the script's call. Workers that stay cost nothing but memory,
/// and save their start at every epoch: they are named where that is worth a hundredth of it.
Json ScriptTrials::loader_changes(const Trial& best) const {
  const Script& script = *prepared_->info.script;
  const Config& config = best.config;
  Json changes = Json::object();
  if (config.workers != script.config.workers) changes["num_workers"] = config.workers;
  const int prefetch = script.config.workers > 0 ? script.config.prefetch : pytorch_prefetch;
  if (config.workers > 0 && config.prefetch != prefetch) {
    changes["prefetch_factor"] = config.prefetch;
  }
  if (config.pinned != script.config.pinned) changes["pin_memory"] = config.pinned;
  if (config.batch != script.config.batch) changes["batch_size"] = config.batch;
  const double* saved_s = find(saved_s_, config);
  const double epoch_s =
      static_cast<double>(script.batches) * config.batch / best.samples_per_s().estimate;
  if (config.workers > 0 && !script.persistent && saved_s && script.batches > 0 &&
      *saved_s > 0.01 * epoch_s) {
    changes["persistent_workers"] = true;
  }
  return changes;
}

std::vector<Setting> ScriptTrials::settings(const Outcome& outcome, std::size_t trial) {
  const Script& script = *prepared_->info.script;
  const Trial& best = outcome.trials[trial];
  std::vector<Setting> settings;
  if (const Json changes = loader_changes(best); !changes.empty()) {
    const auto answers = ask({{"ask", "change"}, {"changes", changes}}, {});
    throw_if_failed(answers);
    settings.push_back({"pytorch", answers.front().at("diff").get<std::string>(),
                        "PyTorch's DataLoader", changes.contains("persistent_workers")});
  }
  const auto step = detail::torch_step_change(script.config, best.config, script.device);
  if (!step.empty()) settings.push_back({"pytorch", step, "the script's own step"});
  return settings;
}

}  // namespace feedrate
