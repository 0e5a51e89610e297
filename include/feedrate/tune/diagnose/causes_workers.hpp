// SPDX-License-Identifier: Apache-2.0
// Causes that other numbers of workers and threads mend.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/tune/diagnose/causes_alternative.hpp"

namespace feedrate::causes {

/// Below this speed-up no setting is worth naming.
inline constexpr double least_gain = 1.05;

/// Whether a setting is fast enough to be the remedy of a cause. A choice of a tier is, by paired
/// rounds; of other trials more is asked, since the luckiest of many looks fast.
inline bool is_worth_it(const Case& of, const std::optional<Alternative>& better) {
  if (!better) return false;
  if (better->paired) return better->gain > 1;
  return better->gain > (better->measured ? 1 + of.account.tolerance / 2 : least_gain);
}

/// The probes of the loader alone, by workers: all with as many are one long round, since what the
/// kernel tells of a short one lags by a turn of its scheduler.
inline std::map<int, Round> loader_probes(const Evidence& evidence) {
  std::map<int, Round> probes;
  for (const Probe& probe : evidence.probes) {
    const bool alone = probe.part == Part::loader && probe.variant == Variant::as_is;
    if (!alone || probe.round.samples == 0) continue;
    Round& sum = probes[probe.config.workers];
    sum.samples += probe.round.samples;
    sum.duration_s += probe.round.duration_s;
    sum.cpu_s += probe.round.cpu_s;
    sum.queue_s += probe.round.queue_s;
  }
  return probes;
}

/// Of the time in which `threads` threads had a core or wanted none, the share that they computed.
/// The time in which they were ready and had no core is left out: what others do on this machine
/// says nothing of what samples need. Both who computes and who wakes up often may be queued.
inline double computing(const Round& round, int threads) noexcept {
  const double own_s = threads * round.duration_s - round.queue_s;
  return own_s > round.cpu_s ? round.cpu_s / own_s : 1;
}

/// Whether loading a sample waits for most of the time rather than computes.
inline bool samples_wait(const Evidence& evidence) {
  const auto probes = loader_probes(evidence);
  if (const auto one = probes.find(1); one != probes.end()) {
    return computing(one->second, 1) < 0.5;
  }
  const auto& loader = evidence.demands.loader;
  return loader && loader->serial_s > 0 && loader->cpu_s < 0.5 * loader->serial_s;
}

inline std::string how_samples_load(const Case& of) {
  const auto& loader = of.evidence.demands.loader;
  if (!loader) return "";
  const bool computes = loader->cpu_s > 0.95 * loader->serial_s;
  return " A sample takes " + duration(loader->serial_s) + " to load, " +
         (computes ? "all" : duration(loader->cpu_s)) + " of it computing.";
}

/// Whether workers were tried, and none could load: of data that can't be sent to them, say.
inline bool workers_fail(const Evidence& evidence) {
  bool failed = false;
  for (const Trial& trial : evidence.trials) {
    if (trial.config.workers == 0) continue;
    if (trial.status != TrialStatus::failed) return false;
    failed = true;
  }
  return failed;
}

/// The caller loads, and the step waits for it.
inline std::optional<Claim> no_overlap(const Case& of) {
  if (!of.is_serial() || of.account.feeding_s() == 0) return std::nullopt;
  if (workers_fail(of.evidence)) return std::nullopt;
  auto better = alternative(of.evidence, [&](const Config& config) {
    return config.workers > 0 && within_tier(of.config(), config, Tier::safe);
  });
  if (!better) {  // nothing is known of workers: one, beside the step
    const Account& time = of.account;
    const double beside_s = std::max({time.loader_s, time.device_s, time.copy_s});
    Config one = of.config();
    one.workers = 1;
    better = Alternative{canonical(one), of.gain_of(time.coupled_s - beside_s), false};
  }
  if (!is_worth_it(of, better)) return std::nullopt;
  const double waiting = std::max(of.trial().waiting(), of.account.gap_s() / of.account.coupled_s);
  return Claim{TimeComponent::feeding,
               of.seconds_of(better->gain),
               {"no_overlap", 0,
                "The step waits " + percent(waiting) +
                    " of the time while the caller loads: 0 workers." + how_samples_load(of),
                "Load beside the step: " + settings(of.config(), better->config) + ".",
                better->gain, better->measured}};
}

/// Configs with more workers than any trial has, for what the model says of them: waiting takes
/// no core, computing takes one per worker.
inline std::vector<Config> untried_workers(const Case& of) {
  const double most = samples_wait(of.evidence) ? 256 : of.evidence.cores();
  std::vector<Config> configs;
  for (Config more = of.config(); 2 * more.workers <= most;) {
    more.workers *= 2;
    configs.push_back(more);
  }
  return configs;
}

/// The loader is the lowest ceiling, and more workers lift it.
inline std::optional<Alternative> more_workers(const Case& of) {
  if (of.is_serial() || !of.account.is_loader_lowest()) return std::nullopt;
  const auto fits = [&](const Config& config) {
    return config.workers > of.config().workers && within_tier(of.config(), config, Tier::safe);
  };
  auto better = alternative(of.evidence, fits);
  if (!better) better = modelled(of.evidence, untried_workers(of));
  return is_worth_it(of, better) ? better : std::nullopt;
}

inline std::string loader_against_device(const Case& of) {
  return "The loader alone reaches " + rate(1 / of.account.loader_s) + " with " +
         workers(of.config().workers) + ", the device alone " + rate(1 / of.account.device_s) + ".";
}

inline std::optional<Claim> too_few_workers(const Case& of) {
  const auto better = more_workers(of);
  if (!better || samples_wait(of.evidence)) return std::nullopt;
  return Claim{TimeComponent::feeding,
               of.seconds_of(better->gain),
               {"too_few_workers", 0, loader_against_device(of) + how_samples_load(of),
                "Load with more: " + settings(of.config(), better->config) + ".", better->gain,
                better->measured}};
}

/// Data that wait rather than compute want more workers than there are cores.
inline std::optional<Claim> waiting_samples(const Case& of) {
  const auto better = more_workers(of);
  if (!better || !samples_wait(of.evidence)) return std::nullopt;
  return Claim{TimeComponent::feeding,
               of.seconds_of(better->gain),
               {"waiting_samples", 0, loader_against_device(of) + how_samples_load(of),
                "Workers that wait take no core, so use more of them than cores: " +
                    settings(of.config(), better->config) + ".",
                better->gain, better->measured}};
}

/// Fewer workers, all else alike, are faster.
inline std::optional<Alternative> fewer_workers(const Case& of) {
  const auto better = alternative(of.evidence, [&](const Config& config) {
    return config.workers > 0 && config.workers < of.config().workers &&
           differs_only_in(&Config::workers, of.config(), config);
  });
  return is_worth_it(of, better) ? better : std::nullopt;
}

/// Whether a quota is what keeps this process from CPUs that it sees.
inline bool has_quota(const Case& of) noexcept {
  const auto& cpus = of.environment().cpus;
  return cpus && cpus->quota && *cpus->quota < cpus->affinity;
}

inline std::string quota_text(const Case& of) {
  const CpuLimits& cpus = *of.environment().cpus;
  return "The control group grants " + formatted("%.3g", *cpus.quota) + " of " +
         std::to_string(cpus.affinity) + " CPUs";
}

inline std::optional<Claim> too_many_workers(const Case& of) {
  const auto better = fewer_workers(of);
  if (!better || (has_quota(of) && of.config().workers > of.evidence.cores())) return std::nullopt;
  return Claim{
      TimeComponent::gap,
      of.seconds_of(better->gain),
      {"too_many_workers", 0,
       workers(of.config().workers) + " share " + cores(of.evidence.cores()) + ": with " +
           std::to_string(better->config.workers) + " it is " + times(better->gain) + " as fast.",
       "Use fewer: " + settings(of.config(), better->config) + ".", better->gain,
       better->measured}};
}

/// Workers were counted by the CPUs that can be seen.
inline std::optional<Claim> workers_above_quota(const Case& of) {
  const auto better = fewer_workers(of);
  if (!better || !has_quota(of) || of.config().workers <= of.evidence.cores()) return std::nullopt;
  return Claim{
      TimeComponent::gap,
      of.seconds_of(better->gain),
      {"quota_below_cpus", 0,
       quota_text(of) + ", and " + workers(of.config().workers) + " want them: with " +
           std::to_string(better->config.workers) + " it is " + times(better->gain) + " as fast.",
       "Choose workers by the quota: " + settings(of.config(), better->config) + ".", better->gain,
       better->measured}};
}

/// As many workers compute as the quota grants, and the loader is still too slow.
inline std::optional<Claim> work_above_quota(const Case& of) {
  const bool all_in_use = of.config().workers >= of.evidence.cores() - 0.5;
  if (of.is_serial() || !has_quota(of) || !of.is_load_bound() || !all_in_use) return std::nullopt;
  if (samples_wait(of.evidence)) return std::nullopt;
  Account granted = of.account;
  const CpuLimits& cpus = *of.environment().cpus;
  const double factor = *cpus.quota / cpus.affinity;
  granted.loader_s *= factor;
  granted.cores_s *= factor;
  const double seconds = of.account.limit_s - detail::limit_s(granted, of.config());
  return Claim{
      TimeComponent::feeding,
      seconds,
      {"quota_below_cpus", 0, quota_text(of) + ", and loading computes on all that it grants.",
       "Raise the quota, and the workers with it.", of.gain_of(seconds), false}};
}

/// The quota of the control group: too many workers for it, or too much work, whichever costs more.
inline std::optional<Claim> quota_below_cpus(const Case& of) {
  auto workers = workers_above_quota(of), work = work_above_quota(of);
  if (!workers || !work) return workers ? workers : work;
  return workers->seconds > work->seconds ? workers : work;
}

}  // namespace feedrate::causes
