// SPDX-License-Identifier: Apache-2.0
// Causes that lie in the device's own time: no part of the gap, yet it could be less.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "feedrate/tune/causes_workers.hpp"

namespace feedrate::causes {

/// A faster step counts where it moves the coupled rate by a tenth or more.
inline constexpr double least_device_gain = 1.1;

/// What of the coupled time goes when the step takes `saved_s` less per sample.
inline double relief_s(const Case& of, double saved_s) noexcept {
  Account less = of.account;
  less.device_s -= std::min(saved_s, less.device_s);
  return of.account.limit_s - detail::limit_s(less, of.config());
}

/// Whether `to` differs from `from` in the axis, and in nothing else that a change of the axis
/// could be credited with. The choice of an earlier tier has the best safe settings of its own, so
/// other ones than those are no gain of theirs; the reference has not. Steps whose gradients are
/// averaged follow the batch where the samples of an update are to stay as many.
template <class T>
bool changes_alone(T Config::*axis, const Config& from, Config to, bool from_choice) {
  if (to.*axis == from.*axis) return false;
  if (to.batch * to.accumulate == from.batch * from.accumulate) to.accumulate = from.accumulate;
  to.*axis = from.*axis;
  return from_choice ? within_tier(from, to, Tier::safe) : to == from;
}

/// What a tier that `is_advised` adds to the one before it, where the axis alone does it.
template <class T, class Advised>
std::optional<Alternative> added_by_tier(const Evidence& evidence, T Config::*axis,
                                         Advised&& is_advised) {
  const Config* before = &evidence.config();
  double gain_before = 1;
  for (const TierChoice& choice : evidence.tiers) {
    const Config& config = evidence.trials[choice.trial].config;
    const bool from_choice = &choice != &evidence.tiers.front();
    if (is_advised(config) && changes_alone(axis, *before, config, from_choice)) {
      return Alternative{config, choice.speedup.estimate / gain_before, true};
    }
    before = &config;
    gain_before = choice.speedup.estimate;
  }
  return std::nullopt;
}

/// A claim on the device's time: what was measured of the tier that changes the axis, else what
/// `saved_s` less per sample would give. Empty where that is too little.
inline std::optional<Claim> faster_step(const Case& of, const std::optional<Alternative>& measured,
                                        double saved_s) {
  Claim claim;
  claim.pot = Pot::device;
  claim.seconds = relief_s(of, saved_s);
  double gain = of.gain_of(claim.seconds);
  if (measured) {
    gain = measured->gain;
    claim.seconds = std::min(of.seconds_of(gain), of.account.device_s);
    claim.diagnosis.measured = true;
  }
  if (gain < least_device_gain) return std::nullopt;
  claim.diagnosis.gain = gain;
  return claim;
}

/// The batches of the space.
inline std::set<int> batches_of(const Evidence& evidence) {
  std::set<int> batches;
  for (const Trial& trial : evidence.trials) batches.insert(trial.config.batch);
  return batches;
}

/// Share of the step that does not depend on the batch.
inline double fixed_share(const StepDemand& step, int batch) noexcept {
  return step.time.alpha_s / step.time(batch);
}

inline std::string step_text(const StepDemand& step, int batch) {
  return "A step takes " + duration(step.time.alpha_s) + " whatever the batch, and " +
         duration(step.time.beta_s) + " per sample more: " + percent(fixed_share(step, batch)) +
         " of a step of " + std::to_string(batch) + " samples is the former.";
}

/// What a step costs beside its samples rules it even with the largest batch of the space.
inline bool rules_at_any_batch(const Case& of, const StepDemand& step) {
  const int largest = *batches_of(of.evidence).rbegin();
  return step.seconds.size() >= 2 && fixed_share(step, largest) > 0.5;
}

inline std::optional<Claim> work_too_small(const Case& of) {
  const StepDemand* step = of.evidence.demands.step(of.config());
  if (!step || !rules_at_any_batch(of, *step)) return std::nullopt;
  const int largest = *batches_of(of.evidence).rbegin();
  auto claim = faster_step(of, {}, of.account.device_s * fixed_share(*step, of.config().batch));
  if (!claim) return claim;
  claim->diagnosis.cause = "work_too_small";
  claim->diagnosis.gain.reset();  // no setting has it
  claim->diagnosis.evidence = step_text(*step, largest);
  claim->diagnosis.remedy =
      "This work does not need this device: use a smaller one, far larger batches, or a step that "
      "is captured as one graph.";
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
  claim->diagnosis.cause = "batch_too_small";
  claim->diagnosis.evidence = step_text(*step, batch);
  claim->diagnosis.remedy =
      larger ? "Use a batch of " + std::to_string(larger->config.batch)
             : "Use a larger batch, up to " + std::to_string(largest) + " of this space";
  claim->diagnosis.remedy += "; scale the learning rate with it.";
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

/// A batch beyond the knee: slower per sample than a smaller one, or no faster while it fills the
/// memory.
inline std::optional<Claim> batch_too_large(const Case& of) {
  const StepDemand* step = of.evidence.demands.step(of.config());
  const int batch = of.config().batch;
  const auto smaller = step ? best_smaller_batch(*step, batch) : std::nullopt;
  if (!smaller) return std::nullopt;
  const double ratio = of.account.device_s / smaller->second;
  const auto free = of.surroundings().memory_free_bytes;
  const auto bytes = static_cast<double>(of.trial().memory_bytes);
  const bool fills = free && bytes > 0.9 * static_cast<double>(*free);
  auto claim = faster_step(of, {}, of.account.device_s - smaller->second);
  if (!claim && fills && ratio > 0.98) claim = Claim{Pot::device};
  if (!claim) return claim;
  claim->diagnosis.cause = "batch_too_large";
  claim->diagnosis.evidence = "A sample takes " + duration(of.account.device_s) +
                              " in a batch of " + std::to_string(batch) + ", and " +
                              duration(smaller->second) + " in one of " +
                              std::to_string(smaller->first) + ".";
  if (fills) {
    claim->diagnosis.evidence += " The batches take " + formatted("%.0f", bytes / (1 << 20)) +
                                 " MiB of " +
                                 formatted("%.0f", static_cast<double>(*free) / (1 << 20)) + ".";
  }
  claim->diagnosis.remedy = "Use a smaller batch, such as " + std::to_string(smaller->first) + ".";
  return claim;
}

/// A narrower number format makes the step faster.
inline std::optional<Claim> precision_not_used(const Case& of) {
  const StepDemand* now = of.evidence.demands.step(of.config());
  const StepDemand* best = nullptr;
  for (const StepDemand& step : of.evidence.demands.steps) {
    if (step.step_threads != of.config().step_threads || step.precision <= of.config().precision)
      continue;
    const bool faster = !best || step.rate(of.config().batch) > best->rate(of.config().batch);
    if (faster) best = &step;
  }
  if (!now || !best) return std::nullopt;
  const double ratio = best->rate(of.config().batch) / now->rate(of.config().batch);
  const auto narrower = added_by_tier(of.evidence, &Config::precision, [&](const Config& config) {
    return config.precision == best->precision;
  });
  auto claim = faster_step(of, narrower, of.account.device_s * (1 - 1 / ratio));
  if (!claim) return claim;
  const std::string name(name_of(best->precision));
  claim->diagnosis.cause = "precision_not_used";
  claim->diagnosis.evidence = "The step alone is " + times(ratio) + " as fast in " + name +
                              " as in " + std::string(name_of(now->precision)) + ".";
  claim->diagnosis.remedy = "Train in " + name + ", and check that it converges.";
  return claim;
}

inline std::string reasons_of(const GpuState& gpu) {
  std::string text;
  for (const std::string& reason : gpu.throttled_by) text += (text.empty() ? "" : ", ") + reason;
  return text.empty() ? "" : ": " + text;
}

/// The GPU runs below its clock.
inline std::optional<Claim> throttling(const Case& of) {
  const auto& gpu = of.surroundings().gpu;
  if (!gpu || gpu->clock_hz <= 0 || gpu->clock_hz >= 0.9 * gpu->max_clock_hz) return std::nullopt;
  const double lost = 1 - gpu->clock_hz / gpu->max_clock_hz;
  auto claim = faster_step(of, {}, of.account.device_s * lost);
  if (!claim) return claim;
  claim->diagnosis.cause = "throttling";
  claim->diagnosis.evidence = "The GPU runs at " + formatted("%.0f", gpu->clock_hz * 1e-6) +
                              " of " + formatted("%.0f", gpu->max_clock_hz * 1e-6) + " MHz" +
                              reasons_of(*gpu) + ".";
  claim->diagnosis.remedy = "Cool it better, or raise its power limit or its application clocks.";
  return claim;
}

/// Others compute on the same GPU.
inline std::optional<Claim> other_gpu_processes(const Case& of) {
  const auto& gpu = of.surroundings().gpu;
  if (!gpu || gpu->other_processes == 0 || !gpu->other_busy) return std::nullopt;
  auto claim = faster_step(of, {}, of.account.device_s * std::min(*gpu->other_busy, 1.0));
  if (!claim) return claim;
  claim->diagnosis.cause = "other_gpu_processes";
  claim->diagnosis.evidence =
      std::to_string(gpu->other_processes) +
      (gpu->other_processes == 1 ? " other process uses " : " other processes use ") +
      "this GPU, " + percent(*gpu->other_busy) + " of its time.";
  claim->diagnosis.remedy = "Stop them or choose another GPU, then measure again.";
  return claim;
}

}  // namespace feedrate::causes
