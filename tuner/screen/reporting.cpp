// SPDX-License-Identifier: Apache-2.0
#include "screen/reporting.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iterator>

#include "command/command_trials.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/machine/cache_folder.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/report/gate/of_report.hpp"
#include "feedrate/report/json/json.hpp"
#include "feedrate/report/screen/screen.hpp"
#include "feedrate/report/text/card.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/script_text.hpp"
#include "feedrate/report/text/settings.hpp"
#include "feedrate/report/text/shell.hpp"
#include "request/constraints.hpp"
#include "request/terminal.hpp"
#include "request/version.hpp"
#include "workload/blas.hpp"
#include "workload/cuda_device.hpp"
#include "workload/device.hpp"

namespace feedrate {
namespace {

/// The storage that the samples will come from.
std::string storage_path(const TuneRequest& request) {
  if (request.is_command()) return request.command.folder.empty() ? "." : request.command.folder;
  if (!request.data.path.empty()) return request.data.path;
  const std::string cache = cache_folder_path();
  std::error_code ignored;
  if (!cache.empty()) std::filesystem::create_directories(cache, ignored);
  return !cache.empty() && access(cache.c_str(), W_OK) == 0 ? cache : ".";
}

/// The same command with another budget. Options stand before the command of the user's.
std::string with_budget(const std::vector<std::string>& words, double budget_s) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> line = {"autotune"};
  for (auto word = words.begin(); word != dashes; ++word) {
    if (*word == "--budget" && word + 1 != dashes) {
      ++word;
    } else if (!word->starts_with("--budget=")) {
      line.push_back(*word);
    }
  }
  line.insert(line.end(), {"--budget", fixed(budget_s, 0) + "s"});
  line.insert(line.end(), dashes, words.end());
  return shell_line(line);
}

/// A budget that may give a clearer result. If steps were so slow that nothing else was measured,
/// it is at least the time of sixty batches: a round of another config may take a tenth of it.
double larger_budget_s(const Report& report) {
  const Outcome& outcome = report.outcome;
  const double longer_s = std::max(3 * report.budget_s, TuneOptions{}.budget_s);
  if (!is_alone(outcome)) return longer_s;
  double seconds = 0, batches = 0;
  for (const Round& round : outcome.trials[outcome.reference].rounds) {
    seconds += round.duration_s;
    batches += round.batches;
  }
  return batches > 0 ? std::max(longer_s, 60 * seconds / batches) : longer_s;
}

/// Commands that are worth running next, by how the report stands.
std::vector<NextStep> next_steps(const Report& report, const TuneRequest& request,
                                 const ReportFile& file) {
  std::vector<NextStep> steps;
  const WorkloadInfo& workload = report.workload;
  const bool interrupted = report.outcome.interrupted;
  if (interrupted && !file.is_standard_output()) {
    steps.push_back({"autotune --resume " + shell_quoted(file.path()), "continue this run"});
  }
  const bool chosen = !interrupted && !report.outcome.tiers.empty();
  if (chosen && report.outcome.choice().standing == Confidence::unresolved) {
    steps.push_back(
        {with_budget(request.words, larger_budget_s(report)), "more rounds, a clearer result"});
  }
  if (workload.kind == "builtin") {
    const std::string device =
        report.device_given ? " --device " + shell_quoted(report.device) : "";
    steps.push_back({"autotune --data DIR" + device, "tune on your own files"});
  }
  constexpr const char* measure_torch = "bench/peers/torch_loader.py";  // in a clone
  if (workload.field == "image" && ::access(measure_torch, R_OK) == 0) {
    steps.push_back(
        {std::string("python3 ") + measure_torch + " --data " + shell_quoted(workload.path),
         "measure num_workers for PyTorch's DataLoader"});
  }
  return steps;
}

}  // namespace

/// What the report's file is called after.
std::string name_of_workload(const TuneRequest& request) {
  if (request.is_command()) {
    const auto& words = request.command.words;
    const std::string name = name_of_command(words);
    const auto at = std::find(words.begin(), words.end(), name);
    const bool is_module = at != words.begin() && at != words.end() && *std::prev(at) == "-m";
    return is_module ? name : std::filesystem::path(name).stem().string();
  }
  return request.data.path.empty() ? request.data.workload_name() : "data";
}

/// "Tuning train_loader of train.py (train.py:23; ...)".
std::string opening_sentence(const Report& report) {
  const WorkloadInfo& workload = report.workload;
  if (!workload.script) {
    return "Tuning " + workload.name + " (" + workload.dataset + "; " + workload.model + ")";
  }
  return "Tuning " + loader_text(workload) + ", whose loop started after " +
         format_duration(workload.script->start_s) + ",";
}

Report begin_report(const TuneRequest& request, const TrainingDevice& device) {
  Report report;
  report.tool = {version, commit, request.command_line, now_utc(), request.search.seed, 0};
  report.device = device.name();
  report.device_given = request.device.is_given();
  report.accelerator = device.accelerator;
  report.constraints = request.constraints;
  report.price = request.output.price;
  report.reference_given = request.against.has_value();
  return report;
}

void describe_machine(Report& report, const TuneRequest& request, ProgressLine& progress) {
  const std::string path = storage_path(request);
  if (!request.measure_card || request.is_command()) {
    report.machine = read_machine(path);
    return;
  }
  try {
    open_blas(read_limits().cpus.usable);
  } catch (const Error& error) {
    progress.note(std::string("The machine is not measured. ") + error.what());
    report.machine = read_machine(path);
    return;
  }
  report.card = measure_card(path);
  report.machine = report.card->machine;
  std::string text = card_text(*report.card, columns(STDERR_FILENO));
  text.pop_back();
  progress.note(text);
  if (!report.machine.gpus.list.empty() && !request.device.is_given() && report.device == "cpu") {
    progress.note(built_with_cuda() ? "No GPU is used: CUDA_VISIBLE_DEVICES hides them."
                                    : "The GPU is not used: " + std::string(no_cuda_here) + ".");
  }
  progress.note("");
}

void add_plan(Report& report, const TuneOptions& plan) {
  report.space = plan.space;
  report.allowed = plan.allowed;
  report.objective = plan.objective;
  report.budget_s = plan.budget_s;
}

void conclude(Report& report, const TuneRequest& request, const ReportFile& file) {
  report.next = next_steps(report, request, file);
  report.requirements = judged(request.gate.requirements, report);
}

void update(Report& report, const Outcome& outcome, Measurer& measurer, double wall_s,
            const TuneRequest& request, const ReportFile& file) {
  report.outcome = outcome;
  report.skips = measurer.skips();
  report.tool.wall_s = wall_s;
  if (report.workload.kind != "command") report.settings = settings_for(report);
  conclude(report, request, file);
}

std::string screen_of(const Report& report, const std::string& path, ColorWish color,
                      bool verbose) {
  const std::size_t width = columns(STDOUT_FILENO);
  std::string text = screen_text(
      report, {.width = width, .color = use_color(color, STDOUT_FILENO), .verbose = verbose});
  const char* more = verbose ? "" : " (--verbose shows more)";
  for (const std::string& line : wrapped("report: " + path + more, width)) text += line + "\n";
  return text;
}

void print_result(const Report& report, const TuneRequest& request, const ReportFile& file) {
  const bool json = request.output.json || file.is_standard_output();
  const OutputRequest& output = request.output;
  print_out(json ? json_text(to_json(report))
                 : screen_of(report, file.path(), output.color, output.verbose));
}

}  // namespace feedrate
