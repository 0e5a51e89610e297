// SPDX-License-Identifier: Apache-2.0
// The verb `check`: measures a baseline's recommended config again, and says whether it became
// slower.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "check/baseline.hpp"
#include "check/differences.hpp"
#include "check/judge.hpp"
#include "check/measure_again.hpp"
#include "check/update.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/report/gate/requirements.hpp"
#include "feedrate/report/json/json.hpp"
#include "feedrate/report/text/choice_text.hpp"
#include "feedrate/report/text/format.hpp"
#include "process/signals.hpp"
#include "request/terminal.hpp"
#include "request/version.hpp"
#include "screen/output.hpp"
#include "screen/reporting.hpp"
#include "trials/subprocess_runner.hpp"
#include "verbs/check_options.hpp"
#include "verbs/verb.hpp"
#include "workload/workloads.hpp"

namespace feedrate {
namespace {

/// From the baseline to the verdict.
class CheckRun {
 public:
  CheckRun(const CheckOptions& options, Baseline baseline);

  /// Returns the exit code.
  int operator()();

 private:
  std::unique_ptr<TrialRunner> make_runner(std::optional<Prepared> known);
  void describe();
  std::vector<CheckBlock> measure();
  void check();
  void judge_blocks();
  void show_unjudged(std::vector<CheckBlock> blocks);
  void judge_requirements();
  void require_same_machine() const;
  void update();
  void not_comparable(const std::string& note);

  const CheckOptions& options_;
  Baseline baseline_;
  TrainingDevice device_;
  const std::atomic<bool>& stop_;
  std::atomic<bool> abort_{false};
  const double began_s_ = SteadyClock{}.now_s();
  ProgressLine progress_;
  Remeasuring again_;
  Report today_;  ///< machine and card
  Remeasured now_;
  Gate gate_;
};

CheckRun::CheckRun(const CheckOptions& options, Baseline baseline)
    : options_(options),
      baseline_(std::move(baseline)),
      device_(choose_device(parse_device(baseline_.report.device))),
      stop_(watch_signals()),
      progress_({.quiet = options.printing.quiet || options.printing.json,
                 .no_trials = true,
                 .live = false,
                 .width = columns(STDERR_FILENO)}),
      again_(
          baseline_,
          [this](std::optional<Prepared> known) { return make_runner(std::move(known)); }, stop_,
          abort_) {
  TuneRequest& request = baseline_.request;
  request.device = parse_device(baseline_.report.device);
  request.measure_card = baseline_.report.card.has_value();
  if (!options.data.empty() && request.data.path.empty()) {
    throw Error(Fault::usage,
                "--data goes with a baseline of --data; this one is of the built-in workload " +
                    baseline_.report.workload.name + ": leave it out.");
  }
  if (!options.data.empty()) request.data.path = options.data;
  if (!request.data.path.empty()) check_data(request.data.path, request.data.labels);
}

std::unique_ptr<TrialRunner> CheckRun::make_runner(std::optional<Prepared> known) {
  const TrialOrder order{baseline_.request.data, device_, baseline_.request.search.seed,
                         baseline_.report.workload.cached_samples};
  const Preparation preparation = {
      .say = [this](const std::string& line) { progress_.note(line); },
      .progress = [this](int done, int wanted) { progress_.preparing(done, wanted); },
      .stop = &stop_};
  const Supervision supervision = {.order = order,
                                   .timeout_s = baseline_.request.trial_timeout_s,
                                   .preparation = preparation,
                                   .abort = &abort_};
  return std::make_unique<SubprocessRunner>(supervision, std::move(known));
}

/// The machine of today, and what the gate says whatever comes of it.
void CheckRun::describe() {
  describe_machine(today_, baseline_.request, progress_);
  const Report& base = baseline_.report;
  now_.card = today_.card;
  now_.differences =
      machine_differences(base, today_.machine, today_.card ? &*today_.card : nullptr);
  const std::string path = baseline_.request.data.path;
  if (path != base.workload.path && !path.empty()) {
    now_.differences.push_back("data: " + path + ", were " + base.workload.path);
  }
  gate_.tool = {version, commit, options_.command_line, now_utc(), base.tool.seed, 0};
  gate_.machine = today_.machine;
  gate_.verb = "check";
  gate_.subject = base.workload.name + " (" +
                  detail::config_text(base.outcome, baseline_.recommended().config) + ") against " +
                  baseline_.path + " of " + base.tool.started_at;
  gate_.limits = options_.limits;
  if (base.tool.commit != commit) {
    gate_.notes.push_back("The baseline was made by autotune " + base.tool.version + " (" +
                          base.tool.commit + "), this is " + version + " (" + commit + ").");
  }
}

void CheckRun::not_comparable(const std::string& note) {
  gate_.overruled = Conclusion::not_comparable;
  gate_.notes.push_back(note);
}

/// Six rounds in a block, and room for six blocks with the starts of their processes.
std::vector<CheckBlock> CheckRun::measure() {
  const double spent_s = now_.card ? now_.card->wall_s : 0;
  const double left_s = std::max(options_.budget_s - spent_s, options_.budget_s / 2);
  return again_.run({.budget_s = left_s, .round_s = std::clamp(left_s / 60, 0.05, 0.5)});
}

void CheckRun::judge_blocks() {
  const auto judged_by = [&](std::vector<CheckBlock> blocks) {
    now_.blocks = undisturbed(blocks, baseline_.recommended());
    return judge(baseline_.report, now_, options_.limits);
  };
  const auto is_slower = [](const GateMetric& metric) {
    return metric.conclusion == Conclusion::slower;
  };
  std::vector<CheckBlock> all = measure();
  now_.memory_bytes = again_.memory_bytes();
  gate_.metrics = judged_by(all);
  if (std::any_of(gate_.metrics.begin(), gate_.metrics.end(), is_slower) && !options_.update) {
    progress_.note("It seems slower: measuring again, to confirm that.");
    const std::vector<CheckBlock> more = measure();
    const auto first = std::exchange(gate_.metrics, {}), second = judged_by(more);
    all.insert(all.end(), more.begin(), more.end());
    gate_.metrics = confirmed(judged_by(all), first, second);
  }
  const auto kept = static_cast<int>(now_.blocks.size());
  const auto disturbed = static_cast<int>(all.size()) - kept;
  if (disturbed == 0) return;
  const std::string count = std::to_string(disturbed) + " of " + format_count(all.size()) +
                            (disturbed == 1 ? " processes does not" : " processes do not") +
                            " count: others took more of the CPUs than when the baseline was made.";
  if (disturbed <= kept && kept >= Remeasuring::least_blocks) {
    gate_.notes.push_back(count);
    return;
  }
  show_unjudged(std::move(all));
  not_comparable(count);
}

/// What was seen, without a conclusion.
void CheckRun::show_unjudged(std::vector<CheckBlock> blocks) {
  now_.blocks = std::move(blocks);
  gate_.metrics = judge(baseline_.report, now_, options_.limits);
  for (GateMetric& metric : gate_.metrics) {
    metric.conclusion.reset();
    metric.reason.clear();
  }
}

void CheckRun::check() {
  progress_.note("Checking " + gate_.subject + " for " + format_duration(options_.budget_s) + ".");
  const auto other_data = data_differences(baseline_.report.workload, again_.prepare());
  if (!other_data.empty()) {
    std::string note = "The data are not those of the baseline:";
    for (const std::string& phrase : other_data) note += " " + phrase + ";";
    note.back() = '.';
    return not_comparable(note);
  }
  judge_blocks();
  const bool is_judged =
      std::any_of(gate_.metrics.begin(), gate_.metrics.end(),
                  [](const GateMetric& metric) { return metric.conclusion.has_value(); });
  if (!is_judged && !gate_.overruled) not_comparable("Nothing could be judged.");
}

/// What is not comparable meets nothing, and misses nothing.
void CheckRun::judge_requirements() {
  gate_.requirements = judged(options_.gate.requirements, gate_.metrics);
  if (!gate_.overruled) return;
  for (GateRequirement& requirement : gate_.requirements) {
    requirement.fulfilment = Fulfilment::inconclusive;
    requirement.reason = gate_.notes.back();
  }
}

/// A report has the figures of one machine.
void CheckRun::require_same_machine() const {
  if (now_.differences.empty()) return;
  throw Error(Fault::usage, "--update needs the machine and the data of the baseline (" +
                                now_.differences.front() + "): make a baseline of this one with " +
                                baseline_.report.tool.command_line + ".");
}

void CheckRun::update() {
  write_baseline(baseline_.path,
                 updated(baseline_, now_, today_.machine, gate_.metrics, options_.reason));
  gate_.notes.push_back("The baseline was updated: " + options_.reason);
}

/// Figures that could not be compared would be no better than those that they replace.
int CheckRun::operator()() {
  require_writable(options_.gate, {options_.baseline});
  if (options_.update) baseline_.path = writable_path("--update", baseline_.path);
  describe();
  if (options_.update) require_same_machine();
  check();
  judge_requirements();
  const bool updates = options_.update && !gate_.overruled;
  if (updates) update();
  if (options_.update != updates) gate_.notes.push_back("The baseline was not updated.");
  gate_.tool.wall_s = SteadyClock{}.now_s() - began_s_;
  const int code = finish_gate(gate_, options_.gate, options_.printing);
  return updates ? 0 : code;
}

int run_check(const std::vector<std::string>& words) {
  const auto options = parse_check(words);
  if (!options) return 0;
  return CheckRun(*options, read_baseline(options->baseline))();
}

const RegisteredVerb registered_check{{{"check", check_purpose}, run_check}};

}  // namespace
}  // namespace feedrate
