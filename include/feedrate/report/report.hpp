// SPDX-License-Identifier: Apache-2.0
// The report: everything that a run found out, as plain data. One writer per format.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/measure/machine_card.hpp"
#include "feedrate/measure/statistics.hpp"
#include "feedrate/measure/surroundings.hpp"
#include "feedrate/measure/workload.hpp"
#include "feedrate/report/constraints.hpp"
#include "feedrate/report/script.hpp"
#include "feedrate/train/accelerators.hpp"
#include "feedrate/tune/options.hpp"
#include "feedrate/tune/outcome.hpp"

namespace feedrate {

/// The program that made the report, and how it was called.
struct ToolInfo {
  std::string version;
  std::string commit;
  std::string command_line;
  std::string started_at;  ///< ISO 8601, UTC
  std::uint64_t seed = 0;
  double wall_s = 0;
};

/// One part of what loading a sample costs.
struct LoadPart {
  std::string_view name;
  double LoadCosts::*seconds;
};

/// The parts by their names in reports, the largest of most JPEG files first.
inline constexpr std::array<LoadPart, 3> load_parts = {{{"decode", &LoadCosts::decode_s},
                                                        {"augment", &LoadCosts::augment_s},
                                                        {"read", &LoadCosts::read_s}}};

/// What was trained on what.
struct WorkloadInfo {
  std::string name;
  std::string kind;     ///< builtin or data
  std::string dataset;  ///< one phrase
  std::string path;     ///< of the data; empty for data made in memory
  std::string model;    ///< one phrase
  std::string field;    ///< the field that is the step's input
  std::size_t samples = 0;
  std::size_t sample_bytes = 0;  ///< in a batch
  double stored_bytes = 0;       ///< on storage, on average; 0: they lie in memory
  double flops_per_sample = 0;
  CacheMode cache = CacheMode::warm;
  std::size_t cached_samples = 0;      ///< samples that the trials used
  std::optional<LoadCosts> load;       ///< empty where loading has no parts
  std::string rate_source = "loader";  ///< of this library; or hook, helper, regex: of a command
  std::optional<Script> script;        ///< the user's, where it was attached to
};

/// Text to paste into a program.
struct Setting {
  std::string framework;
  std::string text;           ///< lines; a change of a source file is a diff
  std::string measured_with;  ///< what the figures behind it were measured with
};

/// A command worth running next.
struct NextStep {
  std::string command;
  std::string why;
};

/// The whole document.
struct Report {
  static constexpr int schema_version = 2;

  ToolInfo tool;
  Machine machine;
  std::optional<MachineCard> card;  ///< empty where it was not asked for
  std::string device = "cpu";
  std::optional<Accelerator> accelerator;  ///< that was emulated; empty: nothing was
  WorkloadInfo workload;
  Space space;
  Constraints constraints;
  std::vector<Tier> allowed;
  Objective objective = Objective::utilization;
  double budget_s = 0;
  Outcome outcome;
  std::vector<Skip> skips;
  std::optional<Confirmation> confirmation;  ///< of a command's recommendation
  std::vector<std::string> touched_files;    ///< that a command made or changed, where it ran
  std::vector<std::string> notes;            ///< what else is to be known of a command
  std::vector<Setting> settings;
  std::vector<NextStep> next;
};

/// Share of the best device rate found in the space that a trial reaches; empty where unknown.
inline std::optional<double> of_best(const Report& report, const Trial& trial) {
  const double best = report.outcome.best_device.samples_per_s;
  if (best <= 0 || trial.rounds.empty()) return std::nullopt;
  return trial.samples_per_s().estimate / best;
}

/// Model FLOP/s over the machine's own measured product rate; empty where either is unknown.
inline std::optional<double> mfu(const Report& report, const Trial& trial) {
  if (!report.card || report.workload.flops_per_sample <= 0 || trial.rounds.empty()) return {};
  for (const ProductRate& product : report.card->products) {
    if (product.precision != trial.config.precision || !product.flops.all.known()) continue;
    const double flops_per_s = trial.samples_per_s().estimate * report.workload.flops_per_sample;
    return flops_per_s / product.flops.all.per_s;
  }
  return std::nullopt;
}

/// Samples per joule over all rounds of a trial; empty where energy was not metered.
inline std::optional<double> samples_per_joule(const Trial& trial) {
  double samples = 0, energy_j = 0;
  for (const Round& round : trial.rounds) {
    samples += static_cast<double>(round.samples);
    energy_j += round.energy_j;
  }
  return energy_j > 0 ? std::optional(samples / energy_j) : std::nullopt;
}

/// What was predicted of a trial over what was measured, less 1; empty where either is missing.
inline std::optional<double> prediction_error(const Trial& trial) {
  if (trial.rounds.empty() || trial.predicted_samples_per_s <= 0) return std::nullopt;
  return trial.predicted_samples_per_s / trial.samples_per_s().estimate - 1;
}

/// How well the rates of the trials were predicted before they ran.
struct ModelError {
  int trials = 0;     ///< that were both predicted and measured
  double median = 0;  ///< of the relative errors' sizes
};

inline ModelError model_error(const Outcome& outcome) {
  std::vector<double> errors;
  for (const Trial& trial : outcome.trials) {
    if (const auto error = prediction_error(trial)) errors.push_back(std::abs(*error));
  }
  if (errors.empty()) return {};
  return {static_cast<int>(errors.size()), median(errors)};
}

}  // namespace feedrate
