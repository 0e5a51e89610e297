// SPDX-License-Identifier: Apache-2.0
// Evidence made by hand, for tests of the diagnosis.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "feedrate/report/text/causes.hpp"
#include "feedrate/tune/diagnose/diagnose.hpp"

namespace feedrate::testing {

/// A round of one second in which the step runs at its own speed and waits for the rest.
inline Round planted_round(double samples_per_s, double device_per_s, double cpu_s = 0.5) {
  const double stepping = std::min(1.0, samples_per_s / device_per_s);
  return {.duration_s = 1,
          .samples = static_cast<std::uint64_t>(samples_per_s),
          .batches = 10,
          .wait_s = 1 - stepping,
          .step_s = stepping,
          .cpu_s = cpu_s};
}

inline Trial planted_trial(const Config& config, double samples_per_s, double device_per_s) {
  Trial trial;
  trial.config = config;
  trial.status = TrialStatus::measured;
  for (const double noise : {0.99, 1.0, 1.01}) {
    trial.rounds.push_back(planted_round(noise * samples_per_s, device_per_s));
  }
  return trial;
}

/// The reference alone, with its ceilings.
inline Evidence planted_evidence(const Config& config, double samples_per_s,
                                 const Ceilings& ceilings) {
  Evidence evidence;
  evidence.trials = {planted_trial(config, samples_per_s, ceilings.device)};
  evidence.trials[0].ceilings = ceilings;
  return evidence;
}

inline constexpr Config two_workers{.workers = 2, .prefetch = 2};
inline constexpr Config eight_workers{.workers = 8, .prefetch = 2};

/// Two workers load 200 samples/s for a device that takes 1000.
inline Evidence starved() {
  return planted_evidence(two_workers, 196, {.loader = 200, .device = 1000});
}

/// Adds another config that was measured, and makes it the choice of its tier.
inline void plant_choice(Evidence& evidence, Tier tier, const Config& config, double gain) {
  const double rate = evidence.trial().samples_per_s().estimate * gain;
  evidence.trials.push_back(
      planted_trial(config, rate, 2 * std::max(rate, evidence.trial().ceilings->device)));
  evidence.tiers.push_back({tier,
                            Confidence::resolved,
                            evidence.trials.size() - 1,
                            {gain, 0.98 * gain, 1.02 * gain},
                            {evidence.trials.size() - 1},
                            0,
                            {}});
}

/// A loader of which each sample takes `serial_s`, of which `cpu_s` computing, by its law.
inline LoadDemand planted_loader(double serial_s, double cpu_s, double sigma = 0) {
  LoadDemand loader;
  loader.law = {1 / serial_s, sigma, 0};
  loader.serial_s = serial_s;
  loader.cpu_s = cpu_s;
  for (const int workers : {1, 2, 4}) loader.samples_per_s[workers] = loader.law(workers);
  return loader;
}

inline StepDemand planted_step(Precision precision, double alpha_s, double beta_s) {
  StepDemand step;
  step.precision = precision;
  step.time = {alpha_s, beta_s};
  for (const int batch : {32, 512}) step.seconds[batch] = step.time(batch);
  return step;
}

/// A probe of the loader alone: `samples` in one second, for `cpu_s` of the cores.
inline Probe planted_probe(int workers, std::uint64_t samples, double cpu_s) {
  return {Part::loader,
          {.workers = workers, .prefetch = 4},
          Variant::as_is,
          {.duration_s = 1, .samples = samples, .cpu_s = cpu_s}};
}

inline CpuLimits planted_cpus(int visible, std::optional<double> quota = {}) {
  CpuLimits cpus;
  cpus.visible = cpus.affinity = visible;
  cpus.quota = quota;
  cpus.usable = static_cast<int>(quota.value_or(visible));
  return cpus;
}

/// The causes in their order, joined by spaces: "" where there are none.
inline std::string causes_in(const Evidence& evidence) {
  std::string names;
  for (const Diagnosis& diagnosis : diagnose(evidence).first) {
    names += (names.empty() ? "" : " ") + std::string(name_of(diagnosis.cause));
    if (diagnosis.where != Where::unknown) names += "." + std::string(name_of(diagnosis.where));
  }
  return names;
}

/// The first of them; "" where there are none.
inline std::string first_cause(const Evidence& evidence) {
  const std::string names = causes_in(evidence);
  return names.substr(0, names.find(' '));
}

/// The cause that is named first; there must be one.
inline Diagnosis first_of(const Evidence& evidence) {
  const auto diagnoses = diagnose(evidence).first;
  REQUIRE_FALSE(diagnoses.empty());
  return diagnoses.front();
}

/// The same in words.
inline CauseText first_text(const Evidence& evidence) {
  return cause_text(first_of(evidence), evidence.config());
}

}  // namespace feedrate::testing
