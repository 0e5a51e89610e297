// SPDX-License-Identifier: Apache-2.0
// Causes in the batch size, and in how the step is launched.
#pragma once

#include <optional>
#include <set>
#include <utility>

#include "feedrate/tune/diagnose/causes_device.hpp"

namespace feedrate::inline v0::causes {

/// The batches of the space that can be run.
inline std::set<int> batches_of(const Evidence& evidence) {
  std::set<int> batches = {evidence.trials[evidence.reference].config.batch};
  for (const Trial& trial : evidence.trials) {
    const bool fails =
        trial.status == TrialStatus::failed || trial.status == TrialStatus::infeasible;
    if (!fails) batches.insert(trial.config.batch);
  }
  return batches;
}

/// Share of the step that does not depend on the batch.
inline double fixed_share(const StepDemand& step, int batch) noexcept {
  return step.time.alpha_s / step.time(batch);
}

inline void add_step(const StepDemand& step, int batch, CauseNumbers& numbers) {
  numbers.step_fixed_s = step.time.alpha_s;
  numbers.step_per_sample_s = step.time.beta_s;
  numbers.step_fixed_share = fixed_share(step, batch);
  numbers.batch = batch;
}

/// What a step costs beside its samples rules it even with the largest batch of the space.
inline bool rules_at_any_batch(const Case& of, const StepDemand& step) {
  const int largest = *batches_of(of.evidence).rbegin();
  return step.seconds.size() >= 2 && fixed_share(step, largest) > 0.5;
}

/// What recording the step as one graph was measured to gain.
struct GraphGain {
  double step = 1;                      ///< of the step alone; 1: unknown
  std::optional<Alternative> measured;  ///< of the whole, where that config ran

  bool is_worth_it() const noexcept { return measured || step > 1.1; }
};

inline GraphGain gain_by_graph(const Case& of) {
  GraphGain gain;
  if (of.config().graph) return gain;
  const auto fits = [&](const Config& config) {
    return differs_only_in(&Config::graph, of.config(), config);
  };
  auto better = chosen(of.evidence, fits);
  if (!better) better = fastest(of.evidence, fits);
  if (is_worth_it(of, better)) gain.measured = better;
  Config recorded = of.config();
  recorded.graph = true;
  const StepDemand* now = of.evidence.demands.step(of.config());
  const StepDemand* then = of.evidence.demands.step(recorded);
  if (now && then) gain.step = then->rate(recorded.batch) / now->rate(recorded.batch);
  return gain;
}

inline void add_graph(const GraphGain& gain, CauseNumbers& numbers) {
  if (!gain.is_worth_it()) return;
  if (gain.measured) numbers.graph_speedup = gain.measured->gain;
  numbers.graph_step_speedup = gain.step;
}

/// What a step costs beside its samples goes where it is recorded: by rounds of that config, else
/// by what of the step alone goes.
inline std::optional<Claim> launched_at_once(const Case& of, const GraphGain& graph) {
  auto claim = faster_step(of, graph.measured, of.account.device_s * (1 - 1 / graph.step));
  if (claim) add_graph(graph, claim->diagnosis.numbers);
  return claim;
}

inline std::optional<Claim> work_too_small(const Case& of) {
  const StepDemand* step = of.evidence.demands.step(of.config());
  if (!step || !rules_at_any_batch(of, *step)) return std::nullopt;
  const int largest = *batches_of(of.evidence).rbegin();
  if (const GraphGain graph = gain_by_graph(of); graph.is_worth_it()) {
    if (auto claim = launched_at_once(of, graph)) {
      claim->diagnosis.cause = Cause::work_too_small;
      add_step(*step, largest, claim->diagnosis.numbers);
      return claim;
    }
  }
  auto claim = faster_step(of, {}, of.account.device_s * fixed_share(*step, of.config().batch));
  if (!claim) return claim;
  claim->diagnosis.cause = Cause::work_too_small;
  claim->diagnosis.gain.reset();  // no setting has it
  add_step(*step, largest, claim->diagnosis.numbers);
  return claim;
}

/// Launches dominate the step, and a larger batch of the space shares them among more samples.
inline std::optional<Claim> batch_too_small(const Case& of) {
  const StepDemand* step = of.evidence.demands.step(of.config());
  const int batch = of.config().batch;
  const int largest = *batches_of(of.evidence).rbegin();
  if (!step || step->seconds.size() < 2 || largest <= batch) return std::nullopt;
  if (fixed_share(*step, batch) < 0.5 || rules_at_any_batch(of, *step)) return std::nullopt;
  const double saved_s = 1 / step->rate(batch) - 1 / step->rate(largest);
  const auto larger = added_by_tier(of.evidence, &Config::batch,
                                    [&](const Config& config) { return config.batch > batch; });
  auto claim = faster_step(of, larger, saved_s);
  if (!claim) return claim;
  claim->diagnosis.cause = Cause::batch_too_small;
  if (larger) claim->diagnosis.remedy = larger->config;
  claim->diagnosis.numbers.largest_batch = largest;
  add_step(*step, batch, claim->diagnosis.numbers);
  add_graph(gain_by_graph(of), claim->diagnosis.numbers);
  return claim;
}

/// The fastest smaller batch of those that were measured alone.
inline std::optional<std::pair<int, double>> best_smaller_batch(const StepDemand& step, int batch) {
  std::optional<std::pair<int, double>> best;
  for (const auto& [smaller, seconds] : step.seconds) {
    const double per_sample_s = seconds / smaller;
    if (smaller < batch && (!best || per_sample_s < best->second)) best = {smaller, per_sample_s};
  }
  return best;
}

/// Bytes that are in use, and those that there are.
struct MemoryUse {
  double used, all;

  bool is_full() const noexcept { return used > 0.9 * all; }
};

/// Of the memory in which the step's batches lie; empty where that is unknown.
inline std::optional<MemoryUse> memory_of(const Case& of) {
  const bool own = of.trial().device_bytes() > 0;
  const auto all = own ? of.environment().device_memory_bytes : of.environment().memory_free_bytes;
  if (!all) return std::nullopt;
  const auto used = own ? of.trial().device_bytes() : of.trial().memory_bytes;
  return MemoryUse{static_cast<double>(used), static_cast<double>(*all)};
}

/// A batch beyond the knee: slower per sample than a smaller one, or no faster while it fills the
/// memory.
inline std::optional<Claim> batch_too_large(const Case& of) {
  const StepDemand* step = of.evidence.demands.step(of.config());
  const int batch = of.config().batch;
  const auto smaller = step ? best_smaller_batch(*step, batch) : std::nullopt;
  if (!smaller) return std::nullopt;
  const double own_s = 1 / step->rate(batch);  // measured when the smaller one was
  const double ratio = own_s / smaller->second;
  const auto memory = memory_of(of);
  const bool fills = memory && memory->is_full();
  auto claim = faster_step(of, {}, of.account.device_s * (1 - 1 / ratio));
  if (!claim && fills && ratio > 0.98) claim = Claim{TimeComponent::device};
  if (!claim) return claim;
  Diagnosis& diagnosis = claim->diagnosis;
  diagnosis.cause = Cause::batch_too_large;
  diagnosis.numbers.device_samples_per_s = 1 / own_s;
  diagnosis.numbers.smaller_batch_samples_per_s = 1 / smaller->second;
  if (fills) {
    diagnosis.numbers.memory_used_bytes = memory->used;
    diagnosis.numbers.memory_bytes = memory->all;
  }
  diagnosis.remedy.emplace(of.config()).batch = smaller->first;
  return claim;
}

}  // namespace feedrate::inline v0::causes
