// SPDX-License-Identifier: Apache-2.0
#include "check/baseline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/report/json/json.hpp"
#include "feedrate/report/text/shell.hpp"
#include "request/parse_request.hpp"

namespace feedrate {
namespace {

[[noreturn]] void refuse_baseline(const std::string& path, const std::string& why) {
  throw Error(Fault::data, "The baseline '" + path + "' " + why);
}

[[noreturn]] void refuse_edited(const std::string& path, const std::string& place,
                                const std::string& why) {
  refuse_baseline(path, "was edited or is damaged at " + place + ": " + why +
                            "; restore it, or make a new one with autotune.");
}

void refuse_command(const std::string& path, const Report& report) {
  if (report.workload.kind != "command") return;
  throw Error(Fault::usage, "The baseline '" + path +
                                "' is the report of a command, which can't be run again from a "
                                "report: compare two versions with 'autotune ab', or run it again "
                                "with --require.");
}

void require_complete(const std::string& path, const Report& report) {
  if (report.outcome.interrupted) {
    refuse_baseline(
        path, "is of a run that did not end: finish it with 'autotune --resume', or run again.");
  }
  if (report.outcome.tiers.empty()) {
    refuse_baseline(path,
                    "has no recommendation to measure again: run autotune with a longer --budget.");
  }
}

bool is_same_figure(const Json& told, const Json& found) {
  if (!told.is_number() || !found.is_number()) return told == found;
  const double a = told.get<double>(), b = found.get<double>();
  return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
}

void require_rounds(const std::string& path, const Trial& trial, const std::string& place) {
  const bool sound = std::all_of(trial.rounds.begin(), trial.rounds.end(), [](const Round& round) {
    return round.samples > 0 && round.duration_s > 0 && std::isfinite(round.duration_s);
  });
  if (!sound) refuse_edited(path, place + ".rounds", "one has no samples or no time");
}

/// What follows from the rounds is what they say.
void require_figures(const Baseline& baseline, std::size_t index) {
  const Trial& trial = baseline.report.outcome.trials[index];
  const std::string place = "trials[" + std::to_string(index) + "]";
  require_rounds(baseline.path, trial, place);
  const Json found = to_json(baseline.report, trial);
  const Json& told = baseline.json.at("trials").at(index);
  for (const char* key : {"busy", "fed", "first_batch_s", "waiting"}) {
    if (!found.contains(key) || !told.contains(key) || is_same_figure(told[key], found[key]))
      continue;
    refuse_edited(baseline.path, place + "." + key, "its rounds say " + found[key].dump());
  }
  if (!found.contains("samples_per_s")) return;
  for (const char* key : {"estimate", "low", "high"}) {
    const Json& rate = found["samples_per_s"][key];
    if (trial.rounds.size() < 2 && key != std::string("estimate")) continue;
    if (is_same_figure(told.at("samples_per_s").at(key), rate)) continue;
    refuse_edited(baseline.path, place + ".samples_per_s." + key, "its rounds say " + rate.dump());
  }
}

/// What stands in two places is the same in both.
void require_same_configs(const Baseline& baseline) {
  const std::array<std::pair<const char*, const Trial*>, 2> named = {
      {{"recommendation", &baseline.recommended()}, {"reference", &baseline.reference()}}};
  for (const auto& [key, trial] : named) {
    if (baseline.json.at(key).at("config") == to_json(trial->config)) continue;
    refuse_edited(baseline.path, std::string(key) + ".config", "its trial has another one");
  }
}

void require_sound_speedup(const Baseline& baseline) {
  const Interval& speedup = baseline.report.outcome.choice().speedup;
  const bool is_outside = speedup.low > speedup.estimate || speedup.estimate > speedup.high;
  if (!is_outside) return;  // bounds that are not known are neither
  refuse_edited(baseline.path, "recommendation.tiers", "a speed-up lies outside of its interval");
}

/// The command line that made it says which samples were loaded, and how.
TuneRequest request_of(const std::string& path, const Report& report) {
  std::vector<std::string> words = shell_words(report.tool.command_line);
  words.erase(words.begin());
  std::optional<TuneRequest> request;
  try {
    request = parse_request(words);
  } catch (const Error& error) {
    refuse_edited(path, "tool.command_line", error.what());
  }
  if (request && request->resume.empty() && !request->is_command()) return *std::move(request);
  refuse_edited(path, "tool.command_line", "it is no run that can be made again");
}

}  // namespace

Baseline read_baseline(const std::string& path) {
  ReadReport read = read_report(path);
  Baseline baseline{path, std::move(read.json), std::move(read.report), {}};
  refuse_command(path, baseline.report);
  require_complete(path, baseline.report);
  try {
    for (std::size_t i = 0; i < baseline.report.outcome.trials.size(); ++i) {
      require_figures(baseline, i);
    }
    require_same_configs(baseline);
  } catch (const Json::exception&) {
    refuse_edited(path, "its trials", "a figure is missing");
  }
  require_sound_speedup(baseline);
  baseline.request = request_of(path, baseline.report);
  return baseline;
}

}  // namespace feedrate
