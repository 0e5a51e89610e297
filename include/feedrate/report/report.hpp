// SPDX-License-Identifier: Apache-2.0
// The report: all results of a run, as plain data. One writer per format.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/card/gpu_ceilings.hpp"
#include "feedrate/card/machine_card.hpp"
#include "feedrate/core/config.hpp"
#include "feedrate/machine/environment.hpp"
#include "feedrate/measure/statistics.hpp"
#include "feedrate/measure/workload.hpp"
#include "feedrate/report/constraints.hpp"
#include "feedrate/report/price.hpp"
#include "feedrate/report/requirement.hpp"
#include "feedrate/report/script.hpp"
#include "feedrate/report/sentences.hpp"
#include "feedrate/train/accelerators.hpp"
#include "feedrate/tune/state/options.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {

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
  bool pixels = false;  ///< it holds bytes, which become floats on host or device
  std::size_t samples = 0;
  std::size_t sample_bytes = 0;  ///< in a batch
  double stored_bytes = 0;       ///< on storage, on average; 0: they lie in memory
  double flops_per_sample = 0;
  std::uint64_t device_free_bytes = 0;  ///< of a GPU's memory, before the first trial; 0: unknown
  std::size_t largest_batch = most_batch;   ///< that the device's step takes, whatever its memory
  std::optional<GpuCeilings> gpu_ceilings;  ///< of the GPU that trains
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
  std::string patch = {};     ///< the same for `git apply`; empty where it changes no file
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
  std::optional<MachineCard> card;         ///< empty where it was not asked for
  std::string device = "cpu";              ///< as --device takes it
  bool device_given = false;               ///< on the command line
  std::optional<Accelerator> accelerator;  ///< that was emulated; empty: nothing was
  WorkloadInfo workload;
  Space space;
  Constraints constraints;
  bool reference_given = false;  ///< by --against
  std::vector<Tier> allowed;
  std::string objective = "utilization";
  double budget_s = 0;
  Outcome outcome;
  Sentences sentences;  ///< of its file, where it was read from one
  std::vector<Skip> skips;
  std::optional<Price> price;                 ///< of the machine; empty: not given
  std::optional<Confirmation> confirmation;   ///< of a command's recommendation
  std::vector<std::string> touched_files;     ///< that a command made or changed, where it ran
  std::vector<std::string> notes;             ///< what else is to be known of a command
  std::vector<std::string> warnings;          ///< of a command: what its user should act on
  std::vector<GateRequirement> requirements;  ///< of the user's, judged
  std::vector<Setting> settings;
  std::vector<NextStep> next;
};

/// Share of the best device rate found in the space that a trial reaches; empty where unknown.
inline std::optional<double> of_best(const Report& report, const Trial& trial) {
  const double best = report.outcome.best_device.samples_per_s;
  if (best <= 0 || trial.rounds.empty()) return std::nullopt;
  return trial.samples_per_s().estimate / best;
}

/// Rate of what is recommended over that of the reference: a script's in fresh processes, where
/// those were run; else of new rounds, where there were any. Needs a tier.
inline Interval proven_speedup(const Report& report) {
  const Outcome& outcome = report.outcome;
  if (outcome.choice().trial == outcome.reference) return {1, 1, 1};
  const auto& confirmation = report.confirmation;
  if (confirmation && confirmation->failure.empty() && confirmation->pairs > 0) {
    return confirmation->speedup;
  }
  return outcome.verified.value_or(outcome.choice().speedup);
}

/// Floating-point operations per second of products on what trains, as measured; empty: unknown.
inline std::optional<double> product_flops_per_s(const Report& report, Precision precision) {
  if (const auto& gpu = report.workload.gpu_ceilings) {
    const auto found = gpu->product_flops_per_s.find(precision);
    return found == gpu->product_flops_per_s.end() ? std::nullopt : std::optional(found->second);
  }
  if (!report.card) return std::nullopt;
  for (const ProductRate& product : report.card->products) {
    if (product.precision == precision && product.flops.all.known()) return product.flops.all.per_s;
  }
  return std::nullopt;
}

/// Model FLOP/s over the measured product rate of what trains; empty where either is unknown.
inline std::optional<double> mfu(const Report& report, const Trial& trial) {
  const auto peak = product_flops_per_s(report, trial.config.precision);
  if (!peak || report.workload.flops_per_sample <= 0 || trial.rounds.empty()) return std::nullopt;
  return trial.samples_per_s().estimate * report.workload.flops_per_sample / *peak;
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

}  // namespace feedrate::inline v0
