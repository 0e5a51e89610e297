// SPDX-License-Identifier: Apache-2.0
#include "request/check_request.hpp"

#include <algorithm>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/tune/objective/objectives.hpp"
#include "request/gate_flags.hpp"
#include "request/search_options.hpp"

namespace feedrate {
namespace {

[[noreturn]] void refuse_what_if() {
  throw Error(Fault::usage,
              "--what-if of a script takes bf16 or fp16, or nothing: then changes of the step are "
              "tried, such as bf16 and a fused optimizer.");
}

void refuse_together(bool given, const std::string& flag, const char* why) {
  if (given) throw Error(Fault::usage, flag + " " + why + ": leave it out.");
}

void refuse_built_in_options(const TuneRequest& request) {
  constexpr const char* why = "goes with the built-in workloads, not with a command behind --";
  const DataRequest& data = request.data;
  refuse_together(!data.path.empty(), "--data", why);
  refuse_together(!data.labels.empty(), "--labels", why);
  refuse_together(data.workload.has_value(), "--workload", why);
  refuse_together(data.sample_cost_s.has_value(), "--sample-cost", why);
  refuse_together(data.cost.has_value(), "--cost", why);
  refuse_together(data.cache == CacheMode::cold, "--cache cold", why);
  refuse_together(data.max_skips > 0, "--max-skips", why);
  refuse_together(data.dct_scaling, "--dct-scaling", why);
  refuse_together(request.device.is_given(), "--device", why);
  for_each_axis([&](const auto& axis) {
    const bool given = axis.is_ours() && request.axes.has(axis.field);
    refuse_together(given, flag_of(axis.name), why);
  });
  refuse_together(request.constraints.max_device_memory_bytes > 0, "--max-device-memory", why);
  refuse_together(request.in_process, "--in-process", why);
  refuse_together(request.constraints.effective_batch > 0, "--effective-batch", why);
  refuse_together(request.against.has_value(), "--against",
                  "goes with the built-in workloads and --data: the reference of a script is the "
                  "script as it is, and of another command the first value of each axis");
}

/// Tiers build on each other: a batch that may change would take the precision along.
void refuse_what_if_below_training(const SearchRequest& search) {
  if (!search.what_if_precision || !search.allowed) return;
  const bool takes_along =
      contains(*search.allowed, Tier::training) && !contains(*search.allowed, Tier::numerics);
  if (!takes_along) return;
  throw Error(Fault::usage,
              "--what-if " + value_text(*search.what_if_precision) +
                  " is no recommendation, and what --allow training recommends would contain it: "
                  "ask one after the other, or write --allow numerics,training.");
}

void check_script(const TuneRequest& request) {
  refuse_what_if_below_training(request.search);
}

void check_launched_per_config(const TuneRequest& request) {
  constexpr const char* why =
      "goes with a script whose DataLoader is switched while it runs, not "
      "with --set or --rate";
  refuse_together(request.search.what_if, "--what-if", why);
  refuse_together(request.constraints.max_memory_bytes.has_value(), "--max-memory", why);
  refuse_together(!request.command.loader.empty(), "--loader", why);
  refuse_together(request.command.train, "--train", why);
}

void check_command(const TuneRequest& request) {
  if (request.command.words.front().empty()) {
    throw Error(Fault::usage,
                "There is no command behind --: write one, such as autotune -- python train.py.");
  }
  refuse_built_in_options(request);
  const auto& files = request.gate.files;
  const bool prints_document =
      request.output.prints_json() ||
      std::any_of(files.begin(), files.end(), [](const auto& file) { return file.path == "-"; });
  if (request.command.train && prints_document) {
    throw Error(Fault::usage,
                "--train gives standard output to the script, so no document can go there: name a "
                "file for --output or --write.");
  }
  request.is_launched_per_config() ? check_launched_per_config(request) : check_script(request);
  if (objective_named(request.search.objective).needs == Needs::rate) return;
  throw Error(Fault::usage,
              "Of a command only the rate is known: choose --objective utilization or throughput.");
}

/// What only a command behind -- can be asked.
void refuse_without_command(const TuneRequest& request) {
  const CommandRequest& command = request.command;
  const std::pair<bool, const char*> given[] = {
      {!command.templates.empty(), "--set"},
      {command.rate.has_value(), "--rate"},
      {!command.loader.empty(), "--loader"},
      {!command.folder.empty(), "--workdir"},
      {!command.patch.empty(), "--patch"},
      {command.apply, "--apply"},
      {command.yes, "--yes"},
      {command.train, "--train"},
      {command.keep_state, "--keep-state"},
      {command.keep_trackers, "--keep-trackers"},
      {!command.confirm, "--no-confirm"},
      {request.search.allowed && contains(*request.search.allowed, Tier::processes),
       "--allow processes"},
      {request.search.what_if_precision.has_value(), "--what-if with a precision"}};
  for (const auto& [is_given, flag] : given) {
    if (!is_given) continue;
    throw Error(Fault::usage, std::string(flag) +
                                  " goes with a command of yours: write it behind "
                                  "--, as in autotune -- python train.py.");
  }
}

void check_data_request(const DataRequest& data) {
  if (data.workload && !data.path.empty()) {
    throw Error(Fault::usage, "--data and --workload exclude each other: give one of them.");
  }
  if (!data.labels.empty() && data.path.empty()) {
    throw Error(Fault::usage, "--labels goes with --data FILE.npy: give both.");
  }
  if (data.dct_scaling && data.path.empty() && data.workload_name() != "images") {
    throw Error(Fault::usage, "--dct-scaling goes with JPEG files: leave it out.");
  }
  if (!data.sample_cost_s && !data.cost) return;
  if (data.path.empty() && data.workload_name() == "tabular") return;
  throw Error(Fault::usage, "--sample-cost and --cost go with --workload tabular: leave them out.");
}

constexpr double week_s = 7 * 24 * 3600;

/// Who waits for a trial looks ten times a second whether it lives.
void check_timeout(double timeout_s) {
  if (timeout_s >= 0.2 && timeout_s <= week_s) return;
  throw Error(Fault::usage,
              "--trial-timeout must be 200ms or more and at most a week, such as 60s.");
}

}  // namespace

Precision parse_what_if(const std::string& text) {
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    if (text == name_of(precision)) return precision;
  }
  refuse_what_if();
}

void check_request(const TuneRequest& request) {
  check_timeout(request.trial_timeout_s);
  const double budget_s = request.search.budget_s.value_or(1);
  if (!(budget_s > 0 && budget_s <= week_s)) {
    throw Error(Fault::usage, "--budget must be more than 0 and at most a week, such as 60s.");
  }
  refuse_two_documents(request.gate, request.output.prints_json());
  if (request.is_command()) return check_command(request);
  refuse_without_command(request);
  check_data_request(request.data);
}

}  // namespace feedrate
