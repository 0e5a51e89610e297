// SPDX-License-Identifier: Apache-2.0
// Causes that lie in thread pools within thread pools.
#pragma once

#include <algorithm>
#include <optional>

#include "feedrate/tune/diagnose/causes_device.hpp"
#include "feedrate/tune/diagnose/causes_workers.hpp"

namespace feedrate::inline v0::causes {

/// Fewer threads of the step are faster. Where they share cores with the workers, less waiting is
/// part of what is gained; else, or where the reference hardly waits, the step itself becomes
/// faster.
inline std::optional<Claim> too_many_step_threads(const Case& of) {
  const Config& config = of.config();
  const auto better = alternative(of.evidence, [&](Config other) {
    other.persistent = config.persistent;  // as prefetch, it goes with the workers
    return other.step_threads < config.step_threads &&
           differs_only_in(&Config::step_threads, config, other);
  });
  if (!is_worth_it(of, better)) return std::nullopt;
  const bool shares = !of.is_serial() && config.workers + config.step_threads > of.evidence.cores();
  const bool waits = shares && of.account.has_gap();
  if (!waits && better->gain < least_device_gain) return std::nullopt;
  if (!shares && !better->measured) return std::nullopt;
  const TimeComponent component = waits ? TimeComponent::gap : TimeComponent::device;
  Claim claim = claim_of(of, Cause::nested_thread_pools, component, *better);
  if (!waits) claim.seconds = std::min(claim.seconds, of.account.device_s);
  claim.diagnosis.numbers.cores = of.evidence.cores();
  return claim;
}

/// The largest pool that the environment asks for.
inline const ThreadPool* largest_pool(const Environment& environment) {
  const auto& pools = environment.thread_pools;
  const auto largest =
      std::max_element(pools.begin(), pools.end(),
                       [](const auto& a, const auto& b) { return a.threads < b.threads; });
  return largest == pools.end() ? nullptr : &*largest;
}

/// Core-seconds per sample of the loader alone with the most workers over those with one.
inline double cpu_inflation(const Evidence& evidence) {
  const auto probes = loader_probes(evidence);
  const auto one = probes.find(1);
  if (one == probes.end() || one->second.cpu_s <= 0) return 1;
  const auto cpu_s = [](const Round& round) {
    return round.cpu_s / static_cast<double>(round.samples);
  };
  return cpu_s(probes.rbegin()->second) / cpu_s(one->second);
}

/// Each worker calls into a pool of its own, whose threads wait for each other on too few cores:
/// the same sample costs more core-seconds the more workers there are.
inline std::optional<Claim> pools_in_workers(const Case& of) {
  const ThreadPool* pool = largest_pool(of.environment());
  const double inflation = cpu_inflation(of.evidence);
  if (of.is_serial() || !pool || pool->threads < 2 || inflation < 1.3) return std::nullopt;
  if (of.config().workers * pool->threads <= of.evidence.cores()) return std::nullopt;
  const auto& loader = of.evidence.demands.loader;
  const double cpu_s = loader ? loader->cpu_s * inflation : of.account.loader_s;
  const double wasted_s = cpu_s * (1 - 1 / inflation);
  const double seconds = of.account.limit_s - of.limit_without(wasted_s, cpu_s);
  Claim claim = claim_of(of, Cause::nested_thread_pools, TimeComponent::feeding, seconds);
  claim.diagnosis.variable = pool->variable;
  claim.diagnosis.numbers.pool_threads = pool->threads;
  claim.diagnosis.numbers.cores = of.evidence.cores();
  claim.diagnosis.numbers.cpu_inflation = inflation;
  return claim;
}

inline std::optional<Claim> nested_thread_pools(const Case& of) {
  if (auto step = too_many_step_threads(of)) return step;
  return pools_in_workers(of);
}

}  // namespace feedrate::inline v0::causes
