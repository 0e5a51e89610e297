// SPDX-License-Identifier: Apache-2.0
#include "command/command_trials.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "feedrate/measure/trial_error.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate {
namespace {

constexpr std::array<std::string_view, 12> interpreters = {"python", "pypy",  "bash",    "sh",
                                                           "dash",   "zsh",   "perl",    "ruby",
                                                           "node",   "julia", "Rscript", "lua"};

/// "python3.11" is python, too.
bool is_interpreter(std::string_view program) {
  const std::string_view name = program.substr(0, program.find_last_not_of("0123456789.") + 1);
  return std::find(interpreters.begin(), interpreters.end(), name) != interpreters.end();
}

/// Programs that run a script among arguments of their own.
bool is_launcher(std::string_view program) {
  constexpr std::array<std::string_view, 8> launchers = {
      "torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "srun", "env", "uv"};
  return std::find(launchers.begin(), launchers.end(), program) != launchers.end();
}

std::string basename_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string script_among(const std::vector<std::string>& command) {
  const auto is_script = [](const std::string& word) { return word.ends_with(".py"); };
  const auto found = std::find_if(command.begin(), command.end(), is_script);
  return found == command.end() ? std::string() : basename_of(*found);
}

/// Behind python's -m: a module, or the script that a launcher of ranks runs.
std::string script_of_module(const std::string& module, const std::vector<std::string>& command) {
  const bool launches =
      module.starts_with("torch.distributed.") || module.starts_with("accelerate.");
  const std::string script = launches ? script_among(command) : std::string();
  return script.empty() ? module : script;
}

/// What an interpreter runs; empty where it is told by its arguments themselves, as by -c.
std::string script_in(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "-m" && i + 1 < command.size()) return script_of_module(command[i + 1], command);
    if (word == "-c" || word == "-e") return {};
    if (!word.starts_with('-')) return basename_of(word);
  }
  return {};
}

/// As a report names it.
std::optional<RateKind> rate_kind_of(std::string_view name) {
  for (const RateKind kind : {RateKind::hook, RateKind::helper, RateKind::regex}) {
    if (name == name_of(kind)) return kind;
  }
  return std::nullopt;
}

void require_whole(const Request& request) {
  if (request.part == Part::coupled && request.variant == Variant::as_is) return;
  const bool part = request.part != Part::coupled;
  const std::string what = part ? "The part '" + std::string(name_of(request.part)) + "'"
                                : "The variant '" + std::string(name_of(request.variant)) + "'";
  throw TrialError(Fault::trials, what + " can't be measured alone: a command is run as a whole.",
                   "");
}

}  // namespace

std::string name_of_command(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  const std::string program = basename_of(command.front());
  const std::string script = is_interpreter(program) ? script_in(command)
                             : is_launcher(program)  ? script_among(command)
                                                     : std::string();
  return script.empty() ? program : script;
}

CommandTrials::CommandTrials(CommandPlan plan, std::unique_ptr<ControlSocket> socket,
                             std::optional<Prepared> known)
    : TrialRunner(std::move(known)),
      plan_(std::move(plan)),
      socket_(std::move(socket)),
      name_(name_of_command(plan_.spec.command)) {
  plan_.spec.environment.emplace_back("FEEDRATE_ATTACH", socket_->socket_path());
  const auto taken = axes_taken(plan_.spec.command, plan_.templates);
  takes_batch_ = !plan_.as_written && (plan_.with_config || std::find(taken.begin(), taken.end(),
                                                                      "batch") != taken.end());
  kind_ = prepared_ ? rate_kind_of(prepared_->info.rate_source) : plan_.kind;
}

void CommandTrials::start() {
  if (prepared_) return;
  RoundOptions options;
  options.abort = plan_.stop;
  const auto launched = launch(plan_.reference, options);
  kind_ = launched->kind();
  end(*launched);
  prepared_ = describe();
}

Round CommandTrials::run(const Request& request) {
  require_whole(request);
  start();
  if (!plan_.say_again) return launch_once(request);
  return hangs_.retry<CommandHung>([&] { return now_s(); }, plan_.say_again, plan_.stop,
                                   [&] { return launch_once(request); });
}

Round CommandTrials::launch_once(const Request& request) {
  const auto launched = launch(request.config, request.options);
  const Round round = launched->measure();
  gpu_ = launched->gpu();
  end(*launched);
  return round;
}

LaunchSpec CommandTrials::spec_of(const Config& config) const {
  if (plan_.as_written) return plan_.spec;
  if (plan_.with_config) return plan_.with_config(plan_.spec, config);
  return with_values(plan_.spec, plan_.templates, config);
}

/// Launches a config and waits for its first word.
std::unique_ptr<CommandLaunch> CommandTrials::launch(const Config& config,
                                                     const RoundOptions& options) {
  RateSource source(plan_.rate ? &*plan_.rate : nullptr, kind_, options,
                    takes_batch_ ? config.batch : 1);
  auto launched =
      std::make_unique<CommandLaunch>(name_, spec_of(config), *socket_, std::move(source), options,
                                      LaunchBounds{.timeout_s = plan_.timeout_s,
                                                   .start_s = plan_.start_s,
                                                   .patience_s = plan_.patience_s,
                                                   .was_understood = prepared_.has_value()});
  launched->start_up();
  started_s_ += launched->start_up_s();
  counts_batches_ = launched->counts_batches() && !takes_batch_;
  if (launched->counts_batches()) {
    note("The helper in '" + name_ + "' knows its batches, but not their samples: " +
         (takes_batch_ ? "they are taken to be as many as the batch that was asked for."
                       : "rates are in batches per second."));
  }
  return launched;
}

void CommandTrials::end(CommandLaunch& launched) {
  if (launched.end()) return;
  note("'" + name_ + "' did not end within " + format_duration(plan_.patience_s) +
       " when it was asked to (SIGTERM), and was killed.");
}

void CommandTrials::note(const std::string& sentence) {
  if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end()) notes_.push_back(sentence);
}

Prepared CommandTrials::describe() const {
  WorkloadInfo info;
  info.name = name_;
  info.kind = "command";
  info.dataset = "data of the command's own";
  info.model = "step of the command's own";
  info.rate_source = name_of(*kind_);
  return {info, {plan_.reference.batch}};
}

}  // namespace feedrate
