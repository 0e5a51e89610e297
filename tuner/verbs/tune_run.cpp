// SPDX-License-Identifier: Apache-2.0
#include "verbs/tune_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>

#include "feedrate/report/gate/of_report.hpp"
#include "feedrate/report/text/format.hpp"
#include "gate/gate_output.hpp"
#include "plan/command_plan.hpp"
#include "plan/environment.hpp"
#include "plan/plan.hpp"
#include "plan/plan_gpu.hpp"
#include "process/signals.hpp"
#include "request/terminal.hpp"
#include "screen/apply_patch.hpp"
#include "screen/reporting.hpp"
#include "trials/subprocess_runner.hpp"

namespace feedrate {
namespace {

/// Of the GPU that trains; empty where none does.
std::string uuid_of(const TrainingDevice& device) {
  return device.gpu ? device.gpu->facts.uuid : "";
}

}  // namespace

TuneRun::TuneRun(const TuneRequest& request, TrainingDevice device, TuneOptions early,
                 Resumption* resumption)
    : request_(request),
      device_(std::move(device)),
      early_(std::move(early)),
      resumption_(resumption),
      stop_(watch_signals()),
      progress_({.quiet = request.output.quiet,
                 .no_trials = !request.output.progress,
                 .live = is_terminal(STDERR_FILENO),
                 .width = columns(STDERR_FILENO)}),
      file_(request.output.file, name_of_workload(request)) {}

int TuneRun::operator()() {
  require_writable(request_.gate, request_.inputs());
  require_different(written_files());
  require_change_can_be_made(request_);
  begin();
  std::optional<Journaled> made;
  Outcome outcome = plan_and_search(made);
  Journaled& measurer = *made;
  progress_.clear();
  update(report_, outcome, measurer, wall_s(measurer), request_, file_);
  if (request_.is_command()) finish_command(command_run(), std::move(trials_), report_);
  conclude(report_, request_, file_);
  std::string failure;
  attempt(failure, [&] { file_.write(report_); });
  attempt(failure, [&] { print_result(report_, request_, file_); });
  const bool is_stopped = request_.command.train && stop_;  // while the end was written, say
  int code = report_.outcome.interrupted || is_stopped ? 130 : 0;
  const bool trains = request_.command.train && code == 0;
  if (code == 0) attempt(failure, [&] { code = write_gate(gate_of(report_), request_.gate); });
  if (trains && code == 0) return change_and_train(failure);
  if (!is_stopped) make_change(report_, request_.command);
  if (!failure.empty()) throw Error(Fault::internal, failure);
  return code;
}

std::vector<NamedFile> TuneRun::written_files() const {
  std::vector<NamedFile> files = {{"--output", file_.path()}, {"--patch", request_.command.patch}};
  if (keeps_journal()) files.push_back({"the journal", journal_path_of(file_.path())});
  for (const FormatFile& file : request_.gate.files) files.push_back({"--write", file.path});
  return files;
}

/// Nobody may be there any more: whatever can't be written, the training begins.
int TuneRun::change_and_train(const std::string& unwritten) {
  std::exception_ptr failure;
  if (!unwritten.empty()) {
    say_lost(unwritten);
    failure = std::make_exception_ptr(Error(Fault::internal, unwritten));
  }
  try {
    make_change(report_, request_.command);
  } catch (const std::exception& error) {
    say_lost(error.what());
    failure = std::current_exception();
  }
  const int code = train(request_, report_);
  if (failure) std::rethrow_exception(failure);
  return code;
}

void TuneRun::begin() {
  if (resumption_) return begin_again();
  if (keeps_journal()) require_unused_journal(journal_path_of(file_.path()));
  report_ = begin_report(request_, device_);
  thread_pools_ = read_thread_pools();
  describe_machine(report_, request_, progress_);
  if (!report_.card && !device_.why_cpu.empty())  // else the card has told it
    progress_.note("The CPU trains, and no GPU: " + device_.why_cpu + ".");
  trials_ = make_trials(std::nullopt);
}

/// What the run has found out of machine, environment and data is taken from its journal.
void TuneRun::begin_again() {
  const JournalHeader& header = resumption_->recorded.header;
  require_same_device(header, uuid_of(device_));
  report_ = begin_report(request_, device_);
  report_.tool = header.tool;
  report_.machine = header.machine;
  report_.card = header.card;
  thread_pools_ = header.thread_pools;
  trials_ = make_trials(Prepared{header.workload, header.batches});
}

std::unique_ptr<TrialRunner> TuneRun::make_trials(std::optional<Prepared> known) {
  if (request_.is_command()) return make_command_trials(command_run(), std::move(known));
  const Preparation preparation = {
      .say = [this](const std::string& line) { progress_.note(line); },
      .progress = [this](int done, int wanted) { progress_.preparing(done, wanted); },
      .stop = &stop_};
  const TrialOrder order{request_.data, device_, request_.search.seed};
  if (request_.in_process) {
    return std::make_unique<InProcessRunner>(order, preparation, std::move(known));
  }
  const Supervision supervision = {.order = order,
                                   .timeout_s = request_.trial_timeout_s,
                                   .preparation = preparation,
                                   .abort = &abort_};
  return std::make_unique<SubprocessRunner>(supervision, std::move(known));
}

CommandRun TuneRun::command_run() {
  return {.request = request_,
          .reference = [this] { return plan_launches(request_, report_.machine.limits).reference; },
          .began_s = began_by_files_s_,
          .ours = {file_.path(), journal_path_of(file_.path())},
          .note = [this](const std::string& line) { progress_.note(line); },
          .waiting = [this](double seconds) { progress_.waiting(seconds); },
          .lost = [this](const std::string& why) { say_lost(why); },
          .stop = &stop_,
          .abort = &abort_};
}

TuneOptions TuneRun::plan_for(const Prepared& prepared) const {
  const Limits& limits = report_.machine.limits;
  if (prepared.info.script) return plan_script(request_, limits, prepared);
  if (request_.is_command()) return plan_launches(request_, limits);
  return plan_sweep(request_, limits, device_, planned(prepared.info, prepared.batches));
}

/// On a GPU the default batches go up to the largest that its memory holds. A resumed run has
/// found that out before.
Prepared TuneRun::prepare() {
  Prepared prepared = trials_->prepared();
  if (resumption_ || !device_.gpu) return prepared;
  const PlannedWorkload workload = planned(prepared.info, prepared.batches);
  limit_device_memory(early_, request_.constraints.max_device_memory_bytes,
                      workload.device_free_bytes);
  prepared.batches = device_batches(early_, workload, [this](const Config& config) {
    return trials_->planned_device_bytes(config);
  });
  return prepared;
}

void TuneRun::plan() {
  const Prepared prepared = prepare();
  batches_ = prepared.batches;
  report_.workload = prepared.info;
  if (const auto& script = prepared.info.script) {
    report_.device = script->device;
    if (!resumption_) require_change_of(script->loader.file, request_.command);
  }
  plan_ = plan_for(prepared);
  plan_.environment = environment_of(report_, device_, thread_pools_);
  add_peaks(plan_, measured_peaks(report_));
  add_plan(report_, plan_);
  const auto& batches = plan_.space.batch;
  trials_->limit_batch(
      std::max(*std::max_element(batches.begin(), batches.end()), plan_.reference.batch));
  progress_.note(opening_sentence(report_) + " for " + format_duration(plan_.budget_s) + ".");
}

void TuneRun::open_journal() {
  if (resumption_) return reopen_journal();
  prepared_s_ = SteadyClock{}.now_s() - began_s_;
  if (!keeps_journal()) return;
  const JournalHeader header{.tool = report_.tool,
                             .arguments = request_.words,
                             .folder = std::filesystem::current_path().string(),
                             .report = std::filesystem::path(file_.path()).filename().string(),
                             .prepared_s = prepared_s_,
                             .machine = report_.machine,
                             .card = report_.card,
                             .thread_pools = thread_pools_,
                             .workload = report_.workload,
                             .batches = batches_,
                             .device = uuid_of(device_)};
  try {
    journal_ = std::make_unique<Journal>(journal_path_of(file_.path()), to_json(header));
  } catch (const Error& error) {
    if (error.fault() != Fault::internal) throw;
    say_lost(error.what());
  }
}

void TuneRun::reopen_journal() {
  const Recorded& recorded = resumption_->recorded;
  prepared_s_ = recorded.header.prepared_s;
  if (recorded.finished) return;
  journal_ = std::make_unique<Journal>(std::move(resumption_->journal), recorded.bytes);
}

std::vector<Json> TuneRun::recorded() const {
  return resumption_ ? std::move(resumption_->recorded.lines) : std::vector<Json>{};
}

JournalKeeping TuneRun::keeping() {
  return {.go_live = [this] { trials_->start(); },
          .lost = [this](const std::string& why) { say_lost(why); },
          .stop = &stop_,
          .abort = &abort_};
}

/// An error that does not end the run is told even to those who want quiet.
void TuneRun::say_lost(const std::string& why) {
  progress_.clear();
  print_error("autotune: " + why + "\n");
}

}  // namespace feedrate
