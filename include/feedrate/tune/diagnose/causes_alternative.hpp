// SPDX-License-Identifier: Apache-2.0
// Alternatives: the config that would do better than the reference, and the claim that it makes.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "feedrate/tune/diagnose/causes.hpp"
#include "feedrate/tune/model/predict.hpp"

namespace feedrate::inline v0::causes {

/// A config, and how much faster than the reference it is.
struct Alternative {
  Config config;
  double gain = 1;
  bool measured = false;
  bool paired = false;  ///< and shown to be faster, by rounds run in turn with the reference's
};

/// A choice of a tier that `fits`: its gain comes from paired rounds, which may not have resolved
/// it, or, without a race, from those there are. It is what the user is told to set, so no cause
/// should name another config.
template <class Fits>
std::optional<Alternative> chosen(const Evidence& evidence, Fits&& fits) {
  for (const TierChoice& choice : evidence.tiers) {
    const Config& config = evidence.trials[choice.trial].config;
    const Interval& speedup = choice.speedup;
    if (choice.trial != evidence.reference && fits(config) && speedup.estimate > 1) {
      return Alternative{config, speedup.estimate, true, speedup.low > 1};
    }
  }
  return std::nullopt;
}

/// The fastest trial of two rounds or more that `fits`.
template <class Fits>
std::optional<Alternative> fastest(const Evidence& evidence, Fits&& fits) {
  const double reference = evidence.trial().samples_per_s().estimate;
  std::optional<Alternative> best;
  for (const Trial& trial : evidence.trials) {
    const bool ran = trial.status == TrialStatus::measured && trial.rounds.size() >= 2;
    if (!ran || trial.config == evidence.config() || !fits(trial.config)) continue;
    const double gain = trial.samples_per_s().estimate / reference;
    if (!best || gain > best->gain) best = Alternative{trial.config, gain, true};
  }
  return best;
}

/// The config of `configs` that the model says is fastest. Both rates are predicted, so that what
/// the model gets wrong of all configs alike cancels.
inline std::optional<Alternative> modelled(const Evidence& evidence,
                                           const std::vector<Config>& configs) {
  const auto reference = predict(evidence.demands, evidence.config());
  std::optional<Alternative> best;
  for (const Config& config : configs) {
    const auto rate = predict(evidence.demands, config);
    if (!rate || !reference) continue;
    const double gain = rate->samples_per_s / reference->samples_per_s;
    if (!best || gain > best->gain) best = Alternative{config, gain, false};
  }
  return best;
}

/// The best config of the sweep that `fits`: a tier's choice, else a measured trial, else, where
/// none such was measured, what the model says of those that were not.
template <class Fits>
std::optional<Alternative> alternative(const Evidence& evidence, Fits&& fits) {
  if (const auto choice = chosen(evidence, fits)) return choice;
  if (const auto trial = fastest(evidence, fits)) return trial;
  std::vector<Config> configs;
  for (const Trial& trial : evidence.trials) {
    const bool failed =
        trial.status == TrialStatus::failed || trial.status == TrialStatus::infeasible;
    if (!failed && fits(trial.config)) configs.push_back(trial.config);
  }
  return modelled(evidence, configs);
}

/// Whether `config` is the reference with another value of one axis alone. Prefetch goes with the
/// workers: without them there is none.
template <class T>
bool differs_only_in(T Config::*axis, const Config& reference, Config config) noexcept {
  if (config.*axis == reference.*axis) return false;
  config.*axis = reference.*axis;
  config.prefetch = reference.prefetch;
  return config == reference;
}

/// A claim on the time that another config saves.
inline Claim claim_of(const Case& of, Cause cause, TimeComponent component,
                      const Alternative& better) {
  return {
      component,
      of.seconds_of(better.gain),
      {.cause = cause, .gain = better.gain, .measured = better.measured, .remedy = better.config}};
}

/// A claim on a time that the account of the times names.
inline Claim claim_of(const Case& of, Cause cause, TimeComponent component, double seconds) {
  return {component, seconds, {.cause = cause, .gain = of.gain_of(seconds)}};
}

}  // namespace feedrate::inline v0::causes
