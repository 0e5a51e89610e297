// SPDX-License-Identifier: Apache-2.0
// What a sweep on an emulated accelerator says: could this host feed that card, and how many?
#pragma once

#include <map>
#include <optional>

#include "feedrate/train/accelerators.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {

/// How well one config feeds the accelerator.
struct AcceleratorUse {
  Config config;
  /// Compute time over total time, the first step excluded; 95 %. Source: MLPerf Storage.
  Interval utilization;

  bool reaches(double wanted) const noexcept { return utilization.estimate >= wanted; }
};

/// The answer of an emulation. Nothing was computed: the steps only took time.
struct Emulation {
  Accelerator accelerator;
  std::optional<AcceleratorUse> reference;    ///< empty where it was not measured
  std::optional<AcceleratorUse> recommended;  ///< likewise
  double loader_samples_per_s = 0;            ///< of the best number of workers; 0: not measured
  int loader_workers = 0;                     ///< that number
  double sample_cpu_s = 0;                    ///< core-seconds that it spends on a sample

  /// Samples/s that keep one accelerator at the utilization wanted.
  double wanted_samples_per_s() const noexcept {
    return accelerator.wanted * accelerator.demand_samples_per_s();
  }
  /// Accelerators that this loader could keep at the utilization wanted; 1.7 are one and most of
  /// another. 0 where the loader was not measured.
  double accelerators_fed() const noexcept { return loader_samples_per_s / wanted_samples_per_s(); }
  /// By so much the loader must get faster to feed one; at most 1 where it is fast enough.
  double speedup_needed() const noexcept { return wanted_samples_per_s() / loader_samples_per_s; }
  /// Core-seconds that a sample may cost for as many cores to feed one.
  double sample_cpu_allowed_s() const noexcept { return sample_cpu_s / speedup_needed(); }
};

namespace detail {

/// Steps take time in proportion to their samples, so that utilization is the share of the demand.
inline std::optional<AcceleratorUse> use_of(const Trial& trial, const Accelerator& accelerator) {
  if (trial.rounds.empty()) return std::nullopt;
  const Interval rate = trial.samples_per_s();
  const double demand = accelerator.demand_samples_per_s();
  return AcceleratorUse{trial.config,
                        {rate.estimate / demand, rate.low / demand, rate.high / demand}};
}

/// All rounds of the loader alone with one number of workers.
struct LoaderRounds {
  double samples = 0, seconds = 0, cpu_s = 0;

  double samples_per_s() const noexcept { return samples / seconds; }
};

/// By workers: the best of several short rounds would flatter.
inline std::map<int, LoaderRounds> loader_rounds(const Outcome& outcome) {
  std::map<int, LoaderRounds> by_workers;
  for (const Probe& probe : outcome.probes) {
    if (probe.part != Part::loader || probe.variant != Variant::as_is) continue;
    LoaderRounds& rounds = by_workers[probe.config.workers];
    rounds.samples += static_cast<double>(probe.round.samples);
    rounds.seconds += probe.round.duration_s;
    rounds.cpu_s += probe.round.cpu_s;
  }
  return by_workers;
}

}  // namespace detail

/// What `outcome` says of `accelerator`, on which it was measured.
inline Emulation emulation_of(const Outcome& outcome, const Accelerator& accelerator) {
  Emulation emulation;
  emulation.accelerator = accelerator;
  emulation.reference = detail::use_of(outcome.trials[outcome.reference], accelerator);
  if (!outcome.tiers.empty()) {
    emulation.recommended = detail::use_of(outcome.recommended(), accelerator);
  }
  for (const auto& [workers, rounds] : detail::loader_rounds(outcome)) {
    if (rounds.samples_per_s() <= emulation.loader_samples_per_s) continue;
    emulation.loader_samples_per_s = rounds.samples_per_s();
    emulation.loader_workers = workers;
    emulation.sample_cpu_s = rounds.cpu_s / rounds.samples;
  }
  return emulation;
}

}  // namespace feedrate::inline v0
