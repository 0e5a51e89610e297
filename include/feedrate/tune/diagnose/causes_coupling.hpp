// SPDX-License-Identifier: Apache-2.0
// Causes that lie between the parts: copies, synchronisation, and what loader and step share.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "feedrate/tune/diagnose/causes_workers.hpp"

namespace feedrate::causes {

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
  std::string evidence = "Copies from pageable memory reach " + rate(1 / time.copy_s);
  if (pinned) evidence += ", from pinned memory " + rate(*pinned);
  return Claim{TimeComponent::gap,
               of.seconds_of(better->gain),
               {"pageable_copies", 0, evidence + ".", "Load into pinned memory: pinned on.",
                better->gain, better->measured}};
}

/// Copy and step add up although they could overlap: somebody waits for the device every batch.
inline std::optional<Claim> host_sync(const Case& of) {
  const Account& time = of.account;
  if (time.copy_s == 0 || !time.has_interference()) return std::nullopt;
  const double sum_s = time.copy_s + time.device_s + (of.is_serial() ? time.loader_s : 0);
  const double overlapped_s = sum_s - time.limit_s;
  const bool adds_up = time.coupling_s() > 0.6 * overlapped_s && time.coupled_s < 1.2 * sum_s;
  if (!adds_up) return std::nullopt;
  const double seconds = std::min(time.coupling_s(), overlapped_s);
  return Claim{TimeComponent::coupling,
               seconds,
               {"host_sync", 0,
                "A copy takes " + duration(time.copy_s) + " per sample and the step " +
                    duration(time.device_s) + "; together they take " + duration(time.coupled_s) +
                    ": they add up instead of overlapping.",
                "Don't wait for the device in every step: read losses and metrics every hundred "
                "steps, and copy without blocking.",
                of.gain_of(seconds), false}};
}

/// On the cpu device loader and step want the same cores.
inline std::optional<Claim> shared_cores(const Case& of) {
  const Account& time = of.account;
  if (of.is_serial() || !time.is_cores_lowest()) return std::nullopt;
  Account enough = time;
  enough.cores_s = 0;
  const double seconds = time.limit_s - detail::limit_s(enough, of.config());
  return Claim{TimeComponent::feeding,
               seconds,
               {"shared_cores", 0,
                "Loader and step want the same " + cores(of.evidence.cores()) +
                    ", which are enough for " + rate(1 / time.cores_s) + ".",
                "Use cheaper samples, a cheaper step, or more cores.", of.gain_of(seconds), false}};
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

/// Which thing loader and step fight for; empty where that can't be told.
///
/// Work that waits for memory burns more core-seconds for the same samples. Work that waits for a
/// core is queued for it, longer than each part alone; where it hardly computes itself, others hold
/// the cores. Work that waits for a lock does neither, and leaves cores idle.
inline std::string shared_thing(const Case& of, const Contention& seen) {
  const double cores = of.evidence.cores();
  const double able = std::min<double>(cores, of.config().workers);
  const double lost_s = of.account.coupling_s();
  const double burnt_s = seen.cpu_alone_s > 0 ? seen.cpu_s - seen.cpu_alone_s : 0;
  const bool burns = seen.cpu_inflation() > 1.2 && burnt_s > 0.5 * lost_s * seen.has_core();
  if (burns && seen.cores_used > 0.25) {
    return of.evidence.environment.worker_processes ? "hand_over" : "memory_bandwidth";
  }
  const bool queued = seen.queue_s - seen.queue_alone_s > 0.5 * lost_s;
  if (seen.cores_used > 0.75 * cores) return "cores";
  if (queued) return seen.cores_used > 0.25 * cores ? "cores" : "other_processes";
  const bool idle = seen.cores_used / seen.has_core() < 0.75 * able;
  if (idle && (seen.step_slowdown > 1.2 || seen.sigma > 0.25)) return "lock";
  return "";
}

inline std::string interference_evidence(const Case& of, const Contention& seen) {
  const Account& time = of.account;
  return "The coupled rate lies " + percent(1 - time.limit_s / time.coupled_s) +
         " below the lowest ceiling. The step takes " + times(seen.step_slowdown) +
         " its own time beside the loader, a sample " + times(seen.cpu_inflation()) +
         " the core-seconds of both alone; " + formatted("%.2g", seen.cores_used) + " of " +
         cores(of.evidence.cores()) + " are busy, and threads that want one have it " +
         percent(seen.has_core()) + " of the time.";
}

inline std::string interference_remedy(const std::string& where) {
  if (where == "memory_bandwidth") {
    return "Both want the memory: use fewer workers, smaller samples (bytes instead of floats), or "
           "fewer copies of them.";
  }
  if (where == "hand_over") {
    return "Sending batches between processes burns that time, and so do threads of the step that "
           "spin while others have their cores: use larger batches, fewer workers or fewer step "
           "threads.";
  }
  if (where == "cores") return "Both want the cores: use fewer workers or step threads.";
  if (where == "other_processes") {
    return "Other processes hold the cores that threads wait for: stop them, then measure again.";
  }
  if (where == "lock") {
    return "They wait for each other, not for cores: look for a lock that loading and step share.";
  }
  return "What they share is not known: try fewer workers or step threads, and more prefetch.";
}

/// The rate lies below every ceiling.
inline std::optional<Claim> interference(const Case& of) {
  if (of.is_serial() || !of.account.has_interference()) return std::nullopt;
  const Contention seen = contention_of(of);
  const std::string where = shared_thing(of, seen);
  const double seconds = of.account.coupling_s();
  return Claim{TimeComponent::coupling,
               seconds,
               {"interference", 0, interference_evidence(of, seen), interference_remedy(where),
                of.gain_of(seconds), false, where}};
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
  return Claim{
      TimeComponent::feeding,
      seconds,
      {"interference", 0,
       "The loader alone reaches " + rate(loader->samples_per_s.begin()->second) +
           " with 1 worker and " + rate(1 / of.account.loader_s) + " with " +
           std::to_string(count) + ", and the workers are idle meanwhile: contention sigma " +
           formatted("%.2g", loader->law.sigma) + ".",
       "Loading goes one worker at a time: look for a lock, or a store that serves one "
       "reader.",
       of.gain_of(seconds), false, "lock"}};
}

}  // namespace feedrate::causes
