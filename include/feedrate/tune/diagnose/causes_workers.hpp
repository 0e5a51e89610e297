// SPDX-License-Identifier: Apache-2.0
// Causes that other numbers of workers and threads mend.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "feedrate/tune/diagnose/causes_alternative.hpp"

namespace feedrate::inline v0::causes {

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

/// What a sample takes to load, where the model knows it.
inline void add_load_times(const Case& of, CauseNumbers& numbers) {
  const auto& loader = of.evidence.demands.loader;
  if (!loader) return;
  numbers.load_s = loader->serial_s;
  numbers.load_cpu_s = loader->cpu_s;
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
  const double gap = of.account.gap_s() / of.account.coupled_s;
  Claim claim = claim_of(of, Cause::no_overlap, TimeComponent::feeding, *better);
  claim.diagnosis.numbers.waiting_share = of.trial().waiting().value_or(gap);
  add_load_times(of, claim.diagnosis.numbers);
  return claim;
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

/// Fewer workers, all else alike, are faster. Those of a script may stay besides; but it is not
/// their number where as many that stay gain as much.
inline std::optional<Alternative> fewer_workers(const Case& of) {
  const Config& own = of.config();
  const auto better = alternative(of.evidence, [&](Config other) {
    other.persistent = own.persistent;
    return other.workers > 0 && other.workers < own.workers &&
           differs_only_in(&Config::workers, own, other);
  });
  if (!is_worth_it(of, better)) return std::nullopt;
  const auto as_many = fastest(of.evidence, [&](const Config& other) {
    return differs_only_in(&Config::persistent, own, other);
  });
  constexpr double clearly = 1.05;
  return as_many && better->gain < clearly * as_many->gain ? std::nullopt : better;
}

/// More workers or fewer, whichever gain more: no two causes ask for both.
struct OtherWorkers {
  std::optional<Alternative> more, fewer;
};

inline OtherWorkers other_workers(const Case& of) {
  OtherWorkers other{more_workers(of), fewer_workers(of)};
  if (other.more && other.fewer) {
    (other.more->gain >= other.fewer->gain ? other.fewer : other.more).reset();
  }
  return other;
}

/// Loader and device alone.
inline void add_ceilings(const Case& of, CauseNumbers& numbers) {
  numbers.loader_samples_per_s = 1 / of.account.loader_s;
  numbers.device_samples_per_s = 1 / of.account.device_s;
}

inline Claim claim_more_workers(const Case& of, Cause cause, const Alternative& better) {
  Claim claim = claim_of(of, cause, TimeComponent::feeding, better);
  add_ceilings(of, claim.diagnosis.numbers);
  add_load_times(of, claim.diagnosis.numbers);
  return claim;
}

inline std::optional<Claim> too_few_workers(const Case& of) {
  const auto better = other_workers(of).more;
  if (!better || samples_wait(of.evidence)) return std::nullopt;
  return claim_more_workers(of, Cause::too_few_workers, *better);
}

/// Data that wait rather than compute want more workers than there are cores.
inline std::optional<Claim> waiting_samples(const Case& of) {
  const auto better = other_workers(of).more;
  if (!better || !samples_wait(of.evidence)) return std::nullopt;
  return claim_more_workers(of, Cause::waiting_samples, *better);
}

/// Whether a quota is what keeps this process from CPUs that it sees.
inline bool has_quota(const Case& of) noexcept {
  const auto& cpus = of.environment().cpus;
  return cpus && cpus->quota && *cpus->quota < cpus->affinity;
}

inline void add_quota(const Case& of, CauseNumbers& numbers) {
  const CpuLimits& cpus = *of.environment().cpus;
  numbers.quota_cpus = *cpus.quota;
  numbers.visible_cpus = cpus.affinity;
}

inline std::optional<Claim> too_many_workers(const Case& of) {
  const auto better = other_workers(of).fewer;
  if (!better || (has_quota(of) && of.config().workers > of.evidence.cores())) return std::nullopt;
  Claim claim = claim_of(of, Cause::too_many_workers, TimeComponent::gap, *better);
  claim.diagnosis.numbers.cores = of.evidence.cores();
  return claim;
}

/// Workers were counted by the CPUs that can be seen.
inline std::optional<Claim> workers_above_quota(const Case& of) {
  const auto better = other_workers(of).fewer;
  if (!better || !has_quota(of) || of.config().workers <= of.evidence.cores()) return std::nullopt;
  Claim claim = claim_of(of, Cause::quota_below_cpus, TimeComponent::gap, *better);
  add_quota(of, claim.diagnosis.numbers);
  return claim;
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
  Claim claim = claim_of(of, Cause::quota_below_cpus, TimeComponent::feeding, seconds);
  add_quota(of, claim.diagnosis.numbers);
  return claim;
}

/// The quota of the control group: too many workers for it, or too much work, whichever costs more.
inline std::optional<Claim> quota_below_cpus(const Case& of) {
  auto workers = workers_above_quota(of), work = work_above_quota(of);
  if (!workers || !work) return workers ? workers : work;
  return workers->seconds > work->seconds ? workers : work;
}

}  // namespace feedrate::inline v0::causes
