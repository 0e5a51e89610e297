// SPDX-License-Identifier: Apache-2.0
// Causes that lie between the parts: copies, synchronisation, and what loader and step share.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "feedrate/tune/diagnose/causes_workers.hpp"

namespace feedrate::inline v0::causes {

/// Batches in memory that is not page-locked: each copy is staged by the CPU.
inline std::optional<Claim> pageable_copies(const Case& of) {
  const Account& time = of.account;
  if (of.config().pinned || time.copy_s == 0) return std::nullopt;
  const auto pinned = of.evidence.demands.copy_pinned;
  auto better = alternative(of.evidence, [&](const Config& config) {
    return differs_only_in(&Config::pinned, of.config(), config);
  });
  if (!better && pinned) {
    Account less = time;
    less.copy_s = 1 / *pinned;
    Config config = of.config();
    config.pinned = true;
    const double seconds = time.limit_s - detail::limit_s(less, config);
    better = Alternative{config, of.gain_of(seconds), false};
  }
  if (!is_worth_it(of, better)) return std::nullopt;
  Claim claim = claim_of(of, Cause::pageable_copies, TimeComponent::gap, *better);
  claim.diagnosis.numbers.copy_samples_per_s = 1 / time.copy_s;
  if (pinned) claim.diagnosis.numbers.better_copy_samples_per_s = *pinned;
  return claim;
}

/// Copy and step add up although they could overlap: somebody waits for the device every batch.
inline std::optional<Claim> host_sync(const Case& of) {
  const Account& time = of.account;
  if (time.copy_s == 0 || !time.has_interference()) return std::nullopt;
  const double sum_s = time.copy_s + time.device_s + (of.is_serial() ? time.loader_s : 0);
  const double overlapped_s = sum_s - time.limit_s;
  const bool adds_up = time.coupling_s() > 0.6 * overlapped_s && time.coupled_s < 1.2 * sum_s;
  if (!adds_up) return std::nullopt;
  Claim claim = claim_of(of, Cause::host_sync, TimeComponent::coupling,
                         std::min(time.coupling_s(), overlapped_s));
  claim.diagnosis.numbers.copy_samples_per_s = 1 / time.copy_s;
  claim.diagnosis.numbers.device_samples_per_s = 1 / time.device_s;
  claim.diagnosis.numbers.coupled_samples_per_s = 1 / time.coupled_s;
  return claim;
}

/// On the cpu device loader and step want the same cores.
inline std::optional<Claim> shared_cores(const Case& of) {
  const Account& time = of.account;
  if (of.is_serial() || !time.is_cores_lowest()) return std::nullopt;
  Account enough = time;
  enough.cores_s = 0;
  const double seconds = time.limit_s - detail::limit_s(enough, of.config());
  Claim claim = claim_of(of, Cause::shared_cores, TimeComponent::feeding, seconds);
  claim.diagnosis.numbers.cores = of.evidence.cores();
  claim.diagnosis.numbers.cores_samples_per_s = 1 / time.cores_s;
  return claim;
}

/// What loader and step did to each other in the coupled rounds. Seconds are per sample.
struct Contention {
  double step_slowdown = 1;  ///< of the step beside the loader against alone
  double cpu_s = 0;          ///< core-seconds
  double cpu_alone_s = 0;    ///< of both parts alone; 0: unknown
  double queue_s = 0;        ///< threads were ready, but had no core
  double queue_alone_s = 0;  ///< the same of both parts alone
  double cores_used = 0;
  double sigma = 0;  ///< the loader's contention by the Universal Scalability Law

  double cpu_inflation() const noexcept { return cpu_alone_s > 0 ? cpu_s / cpu_alone_s : 1; }
  /// Of the time that threads want a core, the share that they have one.
  double has_core() const noexcept { return cpu_s > 0 ? cpu_s / (cpu_s + queue_s) : 1; }
};

/// Seconds per sample, summed over loader and step alone, of `what(round)`: by the probes of this
/// very config, the last of each part; 0 where one is missing.
template <class What>
double alone_s(const Case& of, What&& what) {
  double loader_s = -1, step_s = -1;
  for (const Probe& probe : of.evidence.probes) {
    if (probe.config != of.config() || probe.variant != Variant::as_is) continue;
    if (probe.round.samples == 0) continue;
    const double seconds = what(probe.round) / static_cast<double>(probe.round.samples);
    if (probe.part == Part::loader) loader_s = seconds;
    if (probe.part == Part::device) step_s = seconds;
  }
  return loader_s < 0 || step_s < 0 ? 0 : loader_s + step_s;
}

/// Core-seconds per sample of loader and step, each alone; 0: unknown.
inline double cpu_alone_s(const Case& of) {
  const Demands& demands = of.evidence.demands;
  if (const auto& bound = of.trial().ceilings->cores) return demands.cores / *bound;
  const StepDemand* step = demands.step(of.config());
  return demands.loader && step ? demands.loader->cpu_seconds(of.config()) + step->cpu_s : 0;
}

inline Contention contention_of(const Case& of) {
  const auto mean_s = [&](auto&& what) {
    return of.trial().mean_of(
        [&](const Round& round) { return what(round) / static_cast<double>(round.samples); });
  };
  const auto queue_s = [](const Round& round) { return round.queue_s; };
  Contention seen;
  seen.step_slowdown =
      mean_s([](const Round& round) { return round.step_s; }) / of.account.device_s;
  seen.cpu_s = mean_s([](const Round& round) { return round.cpu_s; });
  seen.cpu_alone_s = cpu_alone_s(of);
  seen.queue_s = mean_s(queue_s);
  seen.queue_alone_s = alone_s(of, queue_s);
  seen.cores_used =
      of.trial().mean_of([](const Round& round) { return round.cpu_s / round.duration_s; });
  if (of.evidence.demands.loader) seen.sigma = of.evidence.demands.loader->law.sigma;
  return seen;
}

/// Which resource loader and step compete for.
///
/// Work that waits for memory burns more core-seconds for the same samples. Work that waits for a
/// core is queued for it, longer than each part alone; where it hardly computes itself, others hold
/// the cores. Work that waits for a lock does neither, and leaves cores idle.
inline Where shared_resource(const Case& of, const Contention& seen) {
  const double cores = of.evidence.cores();
  const double able = std::min<double>(cores, of.config().workers);
  const double lost_s = of.account.coupling_s();
  const double burnt_s = seen.cpu_alone_s > 0 ? seen.cpu_s - seen.cpu_alone_s : 0;
  const bool burns = seen.cpu_inflation() > 1.2 && burnt_s > 0.5 * lost_s * seen.has_core();
  if (burns && seen.cores_used > 0.25) {
    return of.evidence.environment.worker_processes ? Where::hand_over : Where::memory_bandwidth;
  }
  const bool queued = seen.queue_s - seen.queue_alone_s > 0.5 * lost_s;
  if (seen.cores_used > 0.75 * cores) return Where::cores;
  if (queued) return seen.cores_used > 0.25 * cores ? Where::cores : Where::other_processes;
  const bool idle = seen.cores_used / seen.has_core() < 0.75 * able;
  if (idle && (seen.step_slowdown > 1.2 || seen.sigma > 0.25)) return Where::lock;
  return Where::unknown;
}

/// The rate lies below every ceiling.
inline std::optional<Claim> interference(const Case& of) {
  if (of.is_serial() || !of.account.has_interference()) return std::nullopt;
  const Contention seen = contention_of(of);
  Claim claim = claim_of(of, Cause::interference, TimeComponent::coupling, of.account.coupling_s());
  claim.diagnosis.where = shared_resource(of, seen);
  CauseNumbers& numbers = claim.diagnosis.numbers;
  numbers.below_ceiling_share = 1 - of.account.limit_s / of.account.coupled_s;
  numbers.step_slowdown = seen.step_slowdown;
  numbers.cpu_inflation = seen.cpu_inflation();
  numbers.cores_used = seen.cores_used;
  numbers.cores = of.evidence.cores();
  numbers.has_core_share = seen.has_core();
  return claim;
}

/// Whether the loader's workers take turns: more of them load hardly more, and each is idle while
/// one alone computes, or they wait anyway.
inline bool workers_take_turns(const Case& of) {
  const auto probes = loader_probes(of.evidence);
  const auto one = probes.find(1);
  const auto most = probes.rbegin();
  if (one == probes.end() || most->first < 2) return false;
  return of.evidence.demands.loader->law.sigma > 0.25 &&
         computing(most->second, most->first) < 0.75 * std::max(computing(one->second, 1), 0.5);
}

/// Workers that hold each other up: more of them load no more, and compute no more either.
inline std::optional<Claim> lock_in_loading(const Case& of) {
  const auto& loader = of.evidence.demands.loader;
  const int count = of.config().workers;
  if (count < 2 || !loader || !of.account.is_loader_lowest()) return std::nullopt;
  if (loader->serial_s <= 0 || !workers_take_turns(of)) return std::nullopt;
  Account free = of.account;
  const double able =
      samples_wait(of.evidence) ? count : std::min<double>(count, of.evidence.cores());
  free.loader_s = std::min(free.loader_s, loader->serial_s / able);
  const double seconds = of.account.limit_s - detail::limit_s(free, of.config());
  Claim claim = claim_of(of, Cause::interference, TimeComponent::feeding, seconds);
  claim.diagnosis.where = Where::lock;
  claim.diagnosis.numbers.one_worker_samples_per_s = loader->samples_per_s.begin()->second;
  claim.diagnosis.numbers.loader_samples_per_s = 1 / of.account.loader_s;
  claim.diagnosis.numbers.sigma = loader->law.sigma;
  return claim;
}

}  // namespace feedrate::inline v0::causes
