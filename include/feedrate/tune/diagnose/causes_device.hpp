// SPDX-License-Identifier: Apache-2.0
// Causes that lie in the device's own time: no part of the gap, yet it could be less.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "feedrate/machine/slowdown.hpp"
#include "feedrate/tune/diagnose/causes_workers.hpp"

namespace feedrate::inline v0::causes {

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
  claim.component = TimeComponent::device;
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

/// A narrower number format makes the step faster.
inline std::optional<Claim> precision_not_used(const Case& of) {
  const StepDemand* now = of.evidence.demands.step(of.config());
  if (!now) return std::nullopt;
  const StepDemand* best = nullptr;
  for (const StepDemand& step : of.evidence.demands.steps) {
    const bool alike = step.step_threads == of.config().step_threads &&
                       step.graph == of.config().graph && step.pinned == now->pinned;
    if (!alike || step.precision <= of.config().precision) continue;
    const bool faster = !best || step.rate(of.config().batch) > best->rate(of.config().batch);
    if (faster) best = &step;
  }
  if (!best) return std::nullopt;
  const double ratio = best->rate(of.config().batch) / now->rate(of.config().batch);
  if (ratio <= 1) return std::nullopt;  // whatever was gained, the step alone denies it
  const auto narrower = added_by_tier(of.evidence, &Config::precision, [&](const Config& config) {
    return config.precision == best->precision;
  });
  auto claim = faster_step(of, narrower, of.account.device_s * (1 - 1 / ratio));
  if (!claim) return claim;
  claim->diagnosis.cause = Cause::precision_not_used;
  claim->diagnosis.numbers.step_speedup = ratio;
  Config& remedy = claim->diagnosis.remedy.emplace(of.config());
  remedy.precision = best->precision;
  return claim;
}

inline Cause cause_of(Slowdown slowdown) noexcept {
  if (slowdown == Slowdown::none) return Cause::clocks_lowered;
  return slowdown == Slowdown::lowered_limit ? Cause::power_limit_lowered : Cause::throttling;
}

/// Share of the device's time that a higher clock would save at most. A card with more power is
/// faster by no more than that: its efficiency falls as its clock rises.
inline double lost_by_clock(const GpuState& gpu, Slowdown slowdown) noexcept {
  const double by_clock = 1 - gpu.clock_hz / gpu.max_clock_hz;
  if (slowdown != Slowdown::lowered_limit) return by_clock;
  return std::min(by_clock, 1 - gpu.power_limit_w / gpu.default_power_limit_w);
}

/// The GPU runs below its clock, and not since it does all that its maker allows. The maximum of
/// some cards is one that they never reach as they are sold: 2,745 of 3,105 MHz is no lowered
/// clock.
inline std::optional<Claim> throttling(const Case& of) {
  const auto& gpu = of.environment().gpu;
  if (!gpu || gpu->clock_hz <= 0 || gpu->clock_hz >= 0.9 * gpu->max_clock_hz) return std::nullopt;
  const Slowdown slowdown = slowdown_of(*gpu);
  if (slowdown == Slowdown::power_cap) return std::nullopt;
  if (slowdown == Slowdown::none && gpu->clock_hz >= 0.75 * gpu->max_clock_hz) return std::nullopt;
  auto claim = faster_step(of, {}, of.account.device_s * lost_by_clock(*gpu, slowdown));
  if (!claim) return claim;
  claim->diagnosis.cause = cause_of(slowdown);
  claim->diagnosis.gpu = gpu;
  claim->diagnosis.numbers.clock_hz = gpu->clock_hz;
  claim->diagnosis.numbers.max_clock_hz = gpu->max_clock_hz;
  return claim;
}

/// Others compute on the same GPU.
inline std::optional<Claim> other_gpu_processes(const Case& of) {
  const auto& gpu = of.environment().gpu;
  if (!gpu || gpu->other_processes == 0 || !gpu->other_busy) return std::nullopt;
  auto claim = faster_step(of, {}, of.account.device_s * std::min(*gpu->other_busy, 1.0));
  if (!claim) return claim;
  claim->diagnosis.cause = Cause::other_gpu_processes;
  claim->diagnosis.numbers.other_processes = gpu->other_processes;
  claim->diagnosis.numbers.other_busy_share = *gpu->other_busy;
  return claim;
}

}  // namespace feedrate::inline v0::causes
