// SPDX-License-Identifier: Apache-2.0
#include "script/command_run.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "command/command_spec.hpp"
#include "command/command_trials.hpp"
#include "command/run_to_end.hpp"
#include "command/touched_files.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/script_text.hpp"
#include "feedrate/tune/race/adopt_promising.hpp"
#include "feedrate/tune/race/reject_recommendation.hpp"
#include "hook/hook.hpp"
#include "script/confirm.hpp"
#include "script/fresh_launches.hpp"
#include "script/script_trials.hpp"

namespace feedrate {
namespace {

std::unique_ptr<TrialRunner> make_launches(const CommandRun& run, std::optional<Prepared> known) {
  CommandPlan plan;
  plan.spec = launch_of(run.request.command);
  plan.templates = run.request.command.templates;
  plan.rate = run.request.command.rate;
  plan.reference = run.reference();
  plan.timeout_s = run.request.trial_timeout_s;
  plan.stop = run.stop;
  plan.say_again = run.note;
  auto socket = std::make_unique<ControlSocket>();
  add_hook(plan.spec, *socket);
  plan.spec.environment.emplace_back("FEEDRATE_PLAIN", "1");
  plan.spec.environment.emplace_back("FEEDRATE_LEAVES_OUT", "1");
  return std::make_unique<CommandTrials>(std::move(plan), std::move(socket), std::move(known));
}

bool can_confirm(const CommandRun& run, const Report& report) {
  const Outcome& outcome = report.outcome;
  return report.workload.script && run.request.command.confirm && !outcome.interrupted &&
         !outcome.tiers.empty();
}

/// What to set, by trial.
using SettingsOf = std::map<std::size_t, std::vector<Setting>>;

/// Of each tier's choice, and of the script as it is: it can't be asked once it has ended.
SettingsOf ask_settings(const CommandRun& run, TrialRunner& trials, const Outcome& outcome) try {
  SettingsOf settings;
  if (outcome.tiers.empty()) return settings;
  settings[outcome.reference] = trials.settings(outcome, outcome.reference);
  for (const TierChoice& choice : outcome.tiers) {
    settings[choice.trial] = trials.settings(outcome, choice.trial);
  }
  return settings;
} catch (const Error& error) {
  run.lost(std::string("The change of the script can't be shown: ") + error.what());
  return {};
}

/// What another loader brings, where decoding by PIL is what costs.
void add_cpp_loader(const CommandRun& run, TrialRunner& trials, Report& report) try {
  run.note("Measuring the loop with feedrate's C++ loader.");
  trials.try_cpp_loader(report.outcome);
} catch (const Error& error) {
  if (error.fault() == Fault::interrupted) report.outcome.interrupted = true;
  std::string why = error.what();
  if (why.ends_with('.')) why.pop_back();
  report.notes.push_back("feedrate's C++ loader was not tried in the place of PyTorch's: " + why +
                         ".");
}

/// Where the loop waits for its data though the best number of workers loads them, decoding may be
/// what costs.
void add_decoding(const CommandRun& run, TrialRunner& trials, Report& report) try {
  constexpr double well_fed = 0.9;
  const Outcome& outcome = report.outcome;
  if (outcome.tiers.empty() || outcome.interrupted) return;
  const Trial& best = outcome.recommended();
  const std::optional<double> fed = best.fed() ? best.fed() : of_best(report, best);
  if (fed.value_or(1) >= well_fed) return;
  const std::string text = trials.decoding();
  if (text.empty()) return;
  report.notes.push_back(text);
  add_cpp_loader(run, trials, report);
} catch (const Error& error) {
  if (error.fault() == Fault::interrupted) report.outcome.interrupted = true;
  run.lost(std::string("What decoding costs can't be measured: ") + error.what());
}

/// What changes of the step bring, where that is asked for.
void add_levers(const CommandRun& run, TrialRunner& trials, Report& report) try {
  const SearchRequest& search = run.request.search;
  const Outcome& outcome = report.outcome;
  if (!search.what_if || search.what_if_precision || outcome.tiers.empty()) return;
  if (outcome.interrupted) return;
  run.note("Trying changes of the step.");
  trials.try_levers(report.outcome);
} catch (const Error& error) {
  if (error.fault() == Fault::interrupted) report.outcome.interrupted = true;
  run.lost(std::string("What changes of the step bring can't be measured: ") + error.what());
}

/// "3 pairs of fresh processes".
void note_launches(const CommandRun& run, const ConfirmPlan& plan, bool stays) {
  if (stays) return run.note("Confirming: the unchanged script, in a fresh process.");
  run.note("Confirming: " + std::to_string(plan.pairs) +
           " pairs of fresh processes, unchanged and with the recommended settings.");
}

/// How the recommended config is to be read, a sentence each.
void add_remarks(Report& report) {
  const auto& script = report.workload.script;
  if (!script || report.outcome.tiers.empty()) return;
  const Config& config = report.outcome.recommended().config;
  const std::string stream = stream_text(*script, config);
  if (!stream.empty()) report.notes.push_back(stream);
  if (script->start_fixed.empty() || config.workers == 0 || config.persistent) return;
  report.notes.push_back(std::string("persistent_workers ") +
                         (script->persistent ? "is turned off: " : "stays off: ") +
                         script->start_fixed + ".");
}

/// Launches the recommended config and the script as it is in fresh processes.
Confirmation launch_confirmation(const CommandRun& run, const Report& report) {
  const Script& script = *report.workload.script;
  const Config& recommended = report.outcome.recommended().config;
  const double gain = report.outcome.verified ? report.outcome.verified->estimate : 1;
  const ConfirmPlan plan =
      plan_confirmation(script.start_s, report.budget_s, gain, report.tool.seed);
  note_launches(run, plan, recommended == script.config);
  FreshLaunches launches(
      launch_of(run.request.command), script,
      {.seconds = plan.seconds, .timeout_s = run.request.trial_timeout_s, .abort = run.stop});
  int launched = 0;
  const auto launch = [&](const Config& config) {
    if (launched++ == 2 * plan.pairs)
      run.note("Inconclusive so far: launching as many pairs again.");
    return launches.run(config);
  };
  return confirm(launch, script.config, recommended, plan);
}

/// Whether the recommendation stands: fresh processes confirm it, or it changes nothing, or the run
/// was interrupted.
bool stands(const CommandRun& run, Report& report) try {
  report.confirmation = launch_confirmation(run, report);
  return report.outcome.choice().trial == report.outcome.reference ||
         report.confirmation->verdict() == ConfirmationVerdict::confirmed;
} catch (const Error& error) {
  if (error.fault() == Fault::interrupted) report.outcome.interrupted = true;
  if (error.fault() != Fault::interrupted) {
    report.notes.push_back(std::string("The recommendation is not confirmed: ") + error.what());
  }
  return true;
}

/// Withdraws what fresh processes do not confirm, until a narrower tier's choice is confirmed.
void confirm_recommendation(const CommandRun& run, Report& report, SettingsOf settings) {
  Outcome& outcome = report.outcome;
  while (can_confirm(run, report) && !stands(run, report)) {
    reject_recommendation(outcome);
    report.settings = settings[outcome.choice().trial];
    if (outcome.choice().trial == outcome.reference) return;
    report.notes.push_back(detail::confirmation_text(outcome, *report.confirmation));
    report.confirmation.reset();
  }
}

/// On a busy machine the rounds may prove nothing of a large gain: then fresh processes do, or it
/// is dropped.
class Promise {
 public:
  Promise(const CommandRun& run, Report& report) : report_(report), before_(report.outcome.tiers) {
    constexpr double worth_launching = 1.05;
    is_open_ = can_confirm(run, report) && adopt_promising(report.outcome, worth_launching);
  }

  /// After the confirmation: its gain counts. A change that was not launched to the end is dropped.
  void settle() {
    Outcome& outcome = report_.outcome;
    if (!is_open_ || outcome.choice().trial == outcome.reference) return;
    const auto& confirmation = report_.confirmation;
    if (confirmation && confirmation->verdict() == ConfirmationVerdict::confirmed) {
      outcome.verified = confirmation->speedup;
      outcome.verified_rounds = 0;
      outcome.tiers.front().speedup = confirmation->speedup;
      return;
    }
    outcome.tiers = before_;
    report_.settings.clear();
  }

 private:
  Report& report_;
  std::vector<TierChoice> before_;
  bool is_open_ = false;
};

}  // namespace

std::unique_ptr<TrialRunner> make_command_trials(const CommandRun& run,
                                                 std::optional<Prepared> known) {
  if (run.request.is_launched_per_config()) return make_launches(run, std::move(known));
  ScriptPlan plan;
  plan.spec = launch_of(run.request.command);
  plan.loader = run.request.command.loader;
  plan.persistent_is_given = run.request.axes.has(&Config::persistent);
  plan.timeout_s = run.request.trial_timeout_s;
  plan.say = run.note;
  plan.waiting = run.waiting;
  plan.stop = run.stop;
  plan.abort = run.abort;
  return std::make_unique<ScriptTrials>(std::move(plan), std::move(known));
}

void finish_command(const CommandRun& run, std::unique_ptr<TrialRunner> trials, Report& report) {
  Promise promise(run, report);
  SettingsOf settings = ask_settings(run, *trials, report.outcome);
  if (report.workload.script) trials->tell_of_loop(*report.workload.script);
  report.notes = trials->notes();
  add_decoding(run, *trials, report);
  add_levers(run, *trials, report);
  report.warnings = trials->warnings();  // also of what died meanwhile
  trials.reset();
  if (!report.outcome.tiers.empty()) report.settings = settings[report.outcome.choice().trial];
  confirm_recommendation(run, report, std::move(settings));
  promise.settle();
  add_remarks(report);
  if (run.request.command.keep_state) {
    report.notes.push_back(
        "The launches ran in copies of the folder: what they wrote there is gone.");
  }
  report.touched_files = touched_files(run.request.command.folder, run.began_s, run.ours);
}

int train(const TuneRequest& request, const Report& report) {
  const ControlSocket socket;
  LaunchSpec spec{request.command.words, {}, request.command.folder};
  add_hook(spec, socket);
  spec.environment.emplace_back("FEEDRATE_ATTACH", socket.folder() + "/nobody");  // hears of it
  add_settings(spec, *report.workload.script, report.outcome.recommended().config);
  return run_to_end(spec);
}

}  // namespace feedrate
