// SPDX-License-Identifier: Apache-2.0
// The verb without a name: tunes a workload, the user's data, or the user's command.
#include "feedrate/tune/tuner.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "command/touched_files.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/tune/diagnose/what_if.hpp"
#include "journal/journaled.hpp"
#include "journal/resume.hpp"
#include "plan/command_plan.hpp"
#include "plan/fit_batches.hpp"
#include "plan/plan.hpp"
#include "process/signals.hpp"
#include "request/axes.hpp"
#include "request/terminal.hpp"
#include "screen/output.hpp"
#include "screen/progress.hpp"
#include "screen/reporting.hpp"
#include "script/command_run.hpp"
#include "trials/subprocess_runner.hpp"
#include "verbs/verb.hpp"
#include "workload/device.hpp"
#include "workload/workloads.hpp"

namespace feedrate {
namespace {

/// Whoever waits for a trial looks ten times a second whether it lives.
double trial_timeout_s(const SweepOptions& options) {
  const double timeout_s = parse_seconds("--trial-timeout", options.trial_timeout);
  if (timeout_s >= 0.2) return timeout_s;
  throw Error(Fault::usage, "--trial-timeout must be 200ms or more, such as 60s.");
}

/// A step that takes longer than a trial may stay still would be taken for one that hangs.
void check_timeout(const SweepOptions& options, const TrainingDevice& device) {
  const double timeout_s = trial_timeout_s(options);
  const auto& accelerator = device.accelerator;
  if (options.in_process || !accelerator || accelerator->step_s < timeout_s) return;
  throw Error(Fault::usage, "One step of '" + options.device + "' takes " +
                                format_duration(accelerator->step_s) +
                                ", and --trial-timeout ends what is still for " +
                                format_duration(timeout_s) + ": give a longer --trial-timeout.");
}

/// What trains; a command chooses itself.
TrainingDevice device_of(const SweepOptions& options) {
  return is_command(options) ? TrainingDevice{} : choose_device(options.device);
}

/// Of the GPU that trains; empty where none does.
std::string uuid_of(const TrainingDevice& device) {
  return device.gpu ? device.gpu->facts.uuid : "";
}

/// What can be refused before any time is spent.
void refuse_early(const SweepOptions& options, const TrainingDevice& device) {
  check_timeout(options, device);
  if (is_command(options)) return check_command(options, read_limits());
  refuse_without_command(options);
  check_early(options, read_limits(), device);
  if (options.workload_given && !options.data.empty()) {
    throw Error(Fault::usage, "--data and --workload exclude each other: give one of them.");
  }
  if (!options.data.empty()) {
    check_data(options.data, options.labels);
  } else if (!options.labels.empty()) {
    throw Error(Fault::usage, "--labels goes with --data FILE.npy: give both.");
  } else {
    check_workload(options.workload);
  }
}

int largest(const std::vector<int>& values) {
  return *std::max_element(values.begin(), values.end());
}

/// How fast the storage of the data is; empty where that, or the size of samples there, is unknown.
std::optional<ReadSpeeds> read_speeds(const WorkloadInfo& workload,
                                      const std::optional<MachineCard>& card) {
  if (!card || workload.stored_bytes <= 0) return std::nullopt;
  const ReadRate& rate = card->read;
  if (!rate.cold.known() || !rate.cached.known()) return std::nullopt;
  return ReadSpeeds{rate.cold.per_s, rate.cached.per_s, workload.stored_bytes};
}

/// What a diagnosis may know beside the measurements.
Environment environment_of(const Report& report, const TrainingDevice& device,
                           const std::vector<ThreadPool>& thread_pools) {
  const WorkloadInfo& workload = report.workload;
  Environment environment;
  environment.cpus = report.machine.limits.cpus;
  environment.memory_free_bytes = report.machine.limits.memory.free_bytes;
  if (device.gpu) environment.device_memory_bytes = device.gpu->facts.memory_bytes;
  environment.thread_pools = thread_pools;
  environment.samples_per_epoch = workload.samples;
  environment.samples_used = workload.cached_samples;
  environment.cold = workload.cache == CacheMode::cold;
  environment.reads = read_speeds(workload, report.card);
  environment.worker_processes = workload.script.has_value();
  environment.emulated = report.accelerator.has_value();
  if (report.accelerator) environment.wanted = report.accelerator->wanted;
  environment.load = workload.load;
  return environment;
}

/// One run, from the first question to the last: a new one, or one that was killed and goes on.
class SweepRun {
 public:
  SweepRun(const SweepOptions& options, TrainingDevice device, Resumption* resumption)
      : options_(options),
        device_(std::move(device)),
        resumption_(resumption),
        stop_(watch_signals()),
        progress_({.quiet = options.quiet,
                   .no_trials = options.no_progress,
                   .live = is_terminal(STDERR_FILENO),
                   .width = columns(STDERR_FILENO)}),
        file_(options, name_of_workload(options)) {}

  /// Returns the exit code.
  int operator()() {
    begin();
    plan();
    open_journal();
    Journaled measurer(*trials_, journal_.get(), recorded(), keeping());
    Outcome outcome = search(measurer);
    progress_.clear();
    update(report_, outcome, measurer, wall_s(measurer), options_, file_);
    if (is_command(options_)) finish_command(command_run(), std::move(trials_), report_);
    report_.next = next_steps(report_, options_, file_);
    print_result(report_, options_, file_);
    file_.write(report_);
    return report_.outcome.interrupted ? 130 : 0;
  }

 private:
  bool keeps_journal() const { return !file_.is_standard_output(); }
  double wall_s(Journaled& measurer) const { return prepared_s_ + measurer.now_s(); }

  void begin() {
    if (resumption_) return begin_again();
    if (keeps_journal()) require_unused_journal(journal_path_of(file_.path()));
    report_ = begin_report(options_, device_);
    thread_pools_ = read_thread_pools();
    describe_machine(report_, options_, progress_);
    if (!report_.card && !device_.why_cpu.empty()) {  // else the card has told it
      progress_.note("The CPU trains, and no GPU: " + device_.why_cpu + ".");
    }
    trials_ = make_trials(std::nullopt);
  }

  /// What the run has found out of machine, environment and data is taken from its journal.
  void begin_again() {
    const JournalHeader& header = resumption_->recorded.header;
    require_same_device(header, uuid_of(device_));
    report_ = begin_report(options_, device_);
    report_.tool = header.tool;
    report_.machine = header.machine;
    report_.card = header.card;
    thread_pools_ = header.thread_pools;
    trials_ = make_trials(Prepared{header.workload, header.batches});
  }

  std::unique_ptr<TrialRunner> make_trials(std::optional<Prepared> known) {
    if (is_command(options_)) return make_command_trials(command_run(), std::move(known));
    const Preparation preparation = {
        .say = [this](const std::string& line) { progress_.note(line); },
        .progress = [this](int done, int wanted) { progress_.preparing(done, wanted); },
        .stop = &stop_,
        .fit = fit_batches};
    if (options_.in_process) {
      return std::make_unique<InProcessRunner>(options_, preparation, std::move(known));
    }
    const Supervision supervision = {.words = options_.words,
                                     .timeout_s = trial_timeout_s(options_),
                                     .preparation = preparation,
                                     .abort = &abort_};
    return std::make_unique<SubprocessRunner>(supervision, std::move(known));
  }

  CommandRun command_run() {
    return {
        .options = options_,
        .reference = [this] { return plan_launches(options_, report_.machine.limits).reference; },
        .timeout_s = trial_timeout_s(options_),
        .began_s = began_by_files_s_,
        .ours = {file_.path(), journal_path_of(file_.path())},
        .note = [this](const std::string& line) { progress_.note(line); },
        .lost = [this](const std::string& why) { say_lost(why); },
        .stop = &stop_,
        .abort = &abort_};
  }

  TuneOptions plan_for(const Prepared& prepared) const {
    const Limits& limits = report_.machine.limits;
    if (prepared.info.script) return plan_script(options_, limits, prepared);
    if (is_command(options_)) return plan_launches(options_, limits);
    return plan_sweep(options_, limits, device_, planned(prepared));
  }

  /// How large batches may be was found out when the data were prepared.
  static PlannedWorkload planned(const Prepared& prepared) {
    return {.batches = prepared.batches,
            .samples = prepared.info.cached_samples,
            .pixels = prepared.info.pixels,
            .device_free_bytes = prepared.info.device_free_bytes,
            .largest_batch = prepared.info.largest_batch};
  }

  void plan() {
    const Prepared& prepared = trials_->prepared();
    report_.workload = prepared.info;
    if (prepared.info.script) report_.device = prepared.info.script->device;
    plan_ = plan_for(prepared);
    plan_.environment = environment_of(report_, device_, thread_pools_);
    add_peaks(plan_, measured_peaks());
    add_plan(report_, plan_);
    trials_->limit_batch(std::max(largest(plan_.space.batch), plan_.reference.batch));
    progress_.note(opening_sentence(report_) + " for " + format_duration(plan_.budget_s) + ".");
  }

  /// What the device that trains multiplies at best, where that was measured.
  std::map<Precision, double> measured_peaks() const {
    std::map<Precision, double> peaks;
    for (std::size_t p = 0; p < precision_names.size(); ++p) {
      const auto precision = static_cast<Precision>(p);
      if (const auto peak = product_flops_per_s(report_, precision)) peaks[precision] = *peak;
    }
    return peaks;
  }

  void open_journal() {
    if (resumption_) return reopen_journal();
    prepared_s_ = SteadyClock{}.now_s() - began_s_;
    if (!keeps_journal()) return;
    const std::string folder = std::filesystem::current_path().string();
    const std::string report = std::filesystem::path(file_.path()).filename().string();
    const JournalHeader header{.tool = report_.tool,
                               .arguments = options_.words,
                               .folder = folder,
                               .report = report,
                               .prepared_s = prepared_s_,
                               .machine = report_.machine,
                               .card = report_.card,
                               .thread_pools = thread_pools_,
                               .workload = report_.workload,
                               .batches = trials_->prepared().batches,
                               .device = uuid_of(device_)};
    try {
      journal_ = std::make_unique<Journal>(journal_path_of(file_.path()), to_json(header));
    } catch (const Error& error) {
      if (error.fault() != Fault::internal) throw;
      say_lost(error.what());
    }
  }

  void reopen_journal() {
    const Recorded& recorded = resumption_->recorded;
    prepared_s_ = recorded.header.prepared_s;
    if (recorded.finished) return;
    journal_ = std::make_unique<Journal>(std::move(resumption_->journal), recorded.bytes);
  }

  std::vector<Json> recorded() const {
    return resumption_ ? std::move(resumption_->recorded.lines) : std::vector<Json>{};
  }

  JournalKeeping keeping() {
    return {.go_live = [this] { trials_->start(); },
            .lost = [this](const std::string& why) { say_lost(why); },
            .stop = &stop_,
            .abort = &abort_};
  }

  /// An error that does not end the run is told even to those who want quiet.
  void say_lost(const std::string& why) {
    progress_.clear();
    std::fprintf(stderr, "autotune: %s\n", why.c_str());
  }

  Outcome search(Journaled& measurer) {
    plan_.stop = &stop_;
    plan_.abort = &abort_;
    plan_.observe = [&](const Progress& state) {
      if (measurer.is_live()) progress_.show(state);
    };
    plan_.save = [&](const Outcome& outcome) { save(outcome, measurer); };
    Outcome outcome = tune(measurer, plan_);
    if (!is_command(options_)) ask_what_if(measurer, outcome);
    measurer.finish();
    return outcome;
  }

  void ask_what_if(Journaled& measurer, Outcome& outcome) {
    if (!options_.what_if || outcome.interrupted) return;
    WhatIfOptions wanted;
    wanted.round.seconds = std::clamp(plan_.budget_s / 150, 0.05, wanted.round.seconds);
    wanted.round.abort = &abort_;
    wanted.budget_s = std::min(wanted.budget_s, plan_.budget_s);
    wanted.seed = plan_.seed;
    wanted.stop = &stop_;
    const double end_s = measurer.now_s() + wanted.budget_s;
    wanted.observe = [&](std::string_view, const Config& config) {
      Progress state;
      state.phase = "what if";
      state.config = &config;
      state.elapsed_s = measurer.now_s();
      state.budget_s = end_s;
      plan_.observe(state);
    };
    what_if(measurer, outcome, wanted);
    diagnose(outcome, plan_.environment);
    outcome.interrupted = stop_.load(std::memory_order_relaxed);
  }

  /// A report that is not the last one is that of a run which was ended, until the last one comes.
  /// While recorded answers are given again, the report on disk knows more.
  void save(const Outcome& outcome, Journaled& measurer) {
    if (!measurer.is_live()) return;
    file_.save([&]() -> const Report& {
      Outcome partial = outcome;
      partial.interrupted = true;
      update(report_, partial, measurer, wall_s(measurer), options_, file_);
      return report_;
    });
  }

  const SweepOptions& options_;
  TrainingDevice device_;
  Resumption* resumption_;  ///< null for a new run
  const std::atomic<bool>& stop_;
  std::atomic<bool> abort_{false};
  const double began_s_ = SteadyClock{}.now_s();
  double prepared_s_ = 0;
  ProgressLine progress_;
  ReportFile file_;
  Report report_;
  std::vector<ThreadPool> thread_pools_;
  const double began_by_files_s_ = file_clock_s();
  TuneOptions plan_;
  std::unique_ptr<TrialRunner> trials_;
  std::unique_ptr<Journal> journal_;
};

int resume_sweep(const SweepOptions& options) {
  Resumption resumption = open_resumption(options);
  return SweepRun(resumption.options, device_of(resumption.options), &resumption)();
}

int run(const std::vector<std::string>& words) {
  const auto options = parse_command_line(words, named_verbs());
  if (!options) return 0;
  if (!options->resume.empty()) return resume_sweep(*options);
  const TrainingDevice device = device_of(*options);
  refuse_early(*options, device);
  return SweepRun(*options, device, nullptr)();
}

const RegisteredVerb registered{{{"", ""}, run}};

}  // namespace
}  // namespace feedrate
