// SPDX-License-Identifier: Apache-2.0
#include "sweep_verb.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>

#include "axes.hpp"
#include "feedrate/measure/cache_folder.hpp"
#include "feedrate/measure/warm.hpp"
#include "feedrate/report/card.hpp"
#include "feedrate/report/json.hpp"
#include "feedrate/report/screen.hpp"
#include "feedrate/report/settings.hpp"
#include "feedrate/tune/tuner.hpp"
#include "output.hpp"
#include "plan.hpp"
#include "progress.hpp"
#include "signals.hpp"
#include "terminal.hpp"
#include "version.hpp"
#include "workloads.hpp"

namespace feedrate {
namespace {

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void refuse_command(const SweepOptions& options) {
  if (options.command.empty()) return;
  throw Error(
      Fault::usage,
      "Tuning a command behind '--' is not part of this version: use --data or --workload.");
}

/// The storage that the samples will come from.
std::string storage_path(const SweepOptions& options) {
  if (!options.data.empty()) return options.data;
  const std::string cache = cache_folder_path();
  std::error_code ignored;
  if (!cache.empty()) std::filesystem::create_directories(cache, ignored);
  return !cache.empty() && access(cache.c_str(), W_OK) == 0 ? cache : ".";
}

/// Puts the machine into the report, measured unless that was not wanted.
void describe_machine(Report& report, const SweepOptions& options, ProgressLine& progress) {
  const std::string path = storage_path(options);
  if (options.no_card) {
    report.machine = read_machine(path);
    return;
  }
  report.card = measure_card(path);
  report.machine = report.card->machine;
  std::string text = card_text(*report.card, columns(STDERR_FILENO));
  text.pop_back();
  progress.note(text);
  if (!report.machine.gpus.list.empty()) {
    progress.note("The GPU is not used: this version trains on the cpu.");
  }
  progress.note("");
}

PreparedWorkload prepare(const SweepOptions& options, const Limits& limits, ProgressLine& progress,
                         const std::atomic<bool>& stop) {
  WorkloadRequest request;
  request.data = options.data;
  request.labels = options.labels;
  request.name = options.workload;
  request.cost = options.cost == "latency" ? Cost::latency : Cost::cpu;
  request.sample_cost_s =
      parse_seconds("--sample-cost", options.sample_cost.empty() ? "100us" : options.sample_cost);
  request.dct_scaling = options.dct_scaling;
  request.seed = options.seed;
  request.threads = limits.cpus.usable;
  request.say = [&](const std::string& line) { progress.note(line); };
  request.progress = [&](int done, int wanted) { progress.preparing(done, wanted); };
  request.stop = &stop;
  PreparedWorkload prepared = prepare_workload(request);
  prepared.workload.max_skips = options.max_skips;
  return prepared;
}

/// Brings the data to where the trials want it.
void place_data(PreparedWorkload& prepared, const SweepOptions& options,
                const std::atomic<bool>& stop) {
  if (options.cache == "cold" && !prepared.workload.source->stored()) {
    throw Error(Fault::usage, "--cache cold makes no sense here: these samples lie in memory.");
  }
  const MemoryLimits memory = read_limits().memory;
  prepared.workload.memory_bytes = memory.free_bytes / 2;
  prepared.info.cache = options.cache == "cold" ? CacheMode::cold : CacheMode::warm;
  if (prepared.info.cache == CacheMode::warm) {
    prepared.workload.source = warmed(
        prepared.workload.source,
        {.bytes = memory.free_bytes / 2, .seconds = 10, .seed = options.seed, .stop = &stop});
  }
  prepared.info.cached_samples = prepared.workload.source->size();
}

std::vector<NextStep> next_steps(const Report& report) {
  std::vector<NextStep> steps;
  const WorkloadInfo& workload = report.workload;
  if (workload.kind == "builtin") {
    steps.push_back({"autotune --data DIR", "the same on your own files"});
  }
  if (!report.outcome.tiers.empty() && report.outcome.choice().standing == Standing::unresolved) {
    steps.push_back({report.tool.command_line + " --budget " + fixed(3 * report.budget_s, 0) + "s",
                     "more rounds tell the finalists apart"});
  }
  if (workload.field == "image") {
    steps.push_back({"python3 bench/peers/torch_loader.py --data " + workload.path,
                     "measures num_workers for PyTorch's DataLoader on these files"});
  }
  return steps;
}

/// The parts of a report that depend on how the sweep stands.
void update(Report& report, const Outcome& outcome, Measurer& pipeline, double began_s) {
  report.outcome = outcome;
  report.skips = pipeline.skips();
  report.tool.wall_s = SteadyClock{}.now_s() - began_s;
  report.settings = settings_for(outcome);
  report.next = next_steps(report);
}

Report begin_report(const SweepOptions& options) {
  Report report;
  report.tool = {version, commit, options.command_line, now_utc(), options.seed, 0};
  report.device = options.device;
  return report;
}

void add_plan(Report& report, const PreparedWorkload& prepared, const TuneOptions& plan) {
  report.workload = prepared.info;
  report.space = plan.space;
  report.allowed = plan.allowed;
  report.objective = plan.objective;
  report.budget_s = plan.budget_s;
}

void print_result(const Report& report, const SweepOptions& options, const ReportFile& file) {
  const bool json = options.json || file.is_standard_output();
  const std::string text =
      json
          ? json_text(to_json(report))
          : screen_text(report, {columns(STDOUT_FILENO), use_color(options.color, STDOUT_FILENO)}) +
                "report: " + file.path() + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw Error(Fault::internal, "The result could not be written to standard output.");
  }
}

int largest(const std::vector<int>& values) {
  return *std::max_element(values.begin(), values.end());
}

}  // namespace

int run_sweep(const SweepOptions& options) {
  refuse_command(options);
  const Limits limits = read_limits();
  check_early(options, limits);
  if (options.workload_given && !options.data.empty()) {
    throw Error(Fault::usage, "--data and --workload exclude each other: give one of them.");
  }
  if (!options.data.empty()) {
    check_data(options.data, options.labels);
  } else if (!options.labels.empty()) {
    throw Error(Fault::usage, "--labels goes with --data FILE.npy: give both.");
  }
  const std::atomic<bool>& stop = watch_signals();
  const double began_s = SteadyClock{}.now_s();
  ProgressLine progress({.quiet = options.quiet,
                         .no_trials = options.no_progress,
                         .live = is_terminal(STDERR_FILENO),
                         .width = columns(STDERR_FILENO)});
  ReportFile file(options, options.data.empty() ? options.workload : "data");
  Report report = begin_report(options);
  describe_machine(report, options, progress);
  PreparedWorkload prepared = prepare(options, limits, progress, stop);
  place_data(prepared, options, stop);
  TuneOptions plan = plan_sweep(options, limits, prepared.batches, prepared.info.cached_samples);
  add_plan(report, prepared, plan);
  progress.note("Tuning " + report.workload.name + " (" + report.workload.dataset + "; " +
                report.workload.model + ") for " + format_duration(plan.budget_s) + ".");

  Pipeline pipeline(std::move(prepared.workload), largest(plan.space.batch), report.workload.cache);
  plan.stop = &stop;
  plan.observe = [&](const Progress& state) { progress.show(state); };
  plan.save = [&](const Outcome& outcome) {
    file.save([&]() -> const Report& {
      update(report, outcome, pipeline, began_s);
      return report;
    });
  };
  const Outcome outcome = tune(pipeline, plan);
  progress.clear();
  update(report, outcome, pipeline, began_s);
  print_result(report, options, file);
  file.write(report);
  return outcome.interrupted ? 130 : 0;
}

int run_workloads() {
  for (const BuiltIn& workload : built_in_workloads()) {
    std::fputs(labelled(workload.name, std::string(workload.what) + ".", 14, columns(STDOUT_FILENO))
                   .c_str(),
               stdout);
  }
  return 0;
}

}  // namespace feedrate
