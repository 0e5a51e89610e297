// SPDX-License-Identifier: Apache-2.0
// Evidence: what a diagnosis is made of, and the account of the time that a sample takes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "feedrate/machine/environment.hpp"
#include "feedrate/tune/model/predict.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {

/// All that causes are named from. Plain data: what nobody measured is empty.
struct Evidence {
  std::vector<Trial> trials;
  std::size_t reference = 0;  ///< trial: the one that is diagnosed
  std::vector<TierChoice> tiers;
  std::vector<Probe> probes;
  Demands demands;
  std::vector<WhatIf> what_if;
  double noise = 0;  ///< standard deviation of one paired log-ratio; 0: unknown
  Environment environment;

  const Trial& trial() const { return trials[reference]; }
  const Config& config() const { return trial().config; }
  bool is_complete() const { return trial().ceilings && !trial().rounds.empty(); }

  /// Cores that loader and step share.
  double cores() const noexcept {
    return environment.cpus ? environment.cpus->cores() : demands.cores;
  }
};

inline Evidence evidence_of(const Outcome& outcome, Environment environment) {
  if (outcome.gpu) environment.gpu = outcome.gpu;
  return {outcome.trials,  outcome.reference, outcome.tiers, outcome.probes,
          outcome.demands, outcome.what_if,   outcome.noise, std::move(environment)};
}

/// Where the time of a sample goes, all in seconds per sample.
///
/// The gap is what the coupled rate takes beyond the device's own ceiling. Down to the limit of the
/// ceilings it is feeding; what lies below every ceiling is coupling.
struct Account : PartTimes {
  double coupled_s = 0;
  double cores_s = 0;      ///< what the shared cores allow; 0: no such bound
  double limit_s = 0;      ///< what all ceilings together allow
  double tolerance = 0.1;  ///< share of the coupled time that is too small to be told from noise
  double allowed = 0.1;    ///< share of it that the device may wait and is well fed all the same

  double gap_s() const noexcept { return std::max(0.0, coupled_s - device_s); }
  double feeding_s() const noexcept { return std::clamp(limit_s - device_s, 0.0, gap_s()); }
  double coupling_s() const noexcept { return gap_s() - feeding_s(); }

  bool has_gap() const noexcept { return gap_s() > allowed * coupled_s; }
  bool has_interference() const noexcept { return coupling_s() > tolerance * coupled_s; }

  /// A loader that computes on all cores has the bound of the cores beside it, and is still what
  /// holds the rate back: the step must want a tenth of them for the cores to be shared.
  bool is_loader_lowest() const noexcept {
    return loader_s > std::max({device_s, copy_s, 0.9 * cores_s});
  }
  bool is_cores_lowest() const noexcept {
    return 0.9 * cores_s >= loader_s && cores_s > std::max(device_s, copy_s);
  }
  bool is_copy_lowest() const noexcept {
    return copy_s >= std::max(loader_s, cores_s) && copy_s > device_s;
  }
};

namespace detail {

/// What the ceilings allow together: with workers the lowest holds.
inline double limit_s(const Account& account, const Config& config) noexcept {
  if (config.workers == 0) return serial_s(account, config);
  return std::max({account.device_s, account.copy_s, account.loader_s, account.cores_s,
                   account.copy_s > 0 ? caller_s(account, config) : 0});
}

/// Sum over the groups of the squared distances from their mean, and the degrees of freedom.
struct Spread {
  double squares = 0;
  double freedom = 0;

  void add(const std::vector<double>& values) {
    if (values.size() < 2) return;
    const auto more = static_cast<double>(values.size() - 1);
    const double deviation = standard_deviation(values);
    squares += deviation * deviation * more;
    freedom += more;
  }
  double deviation() const noexcept { return freedom > 0 ? std::sqrt(squares / freedom) : 0; }
};

/// Standard deviation of the logarithms of rates that were measured of the same config: rounds of
/// the reference, and probes of the same part.
inline double spread_of_rounds(const Evidence& evidence) {
  Spread spread;
  std::vector<double> logs;
  for (const Round& round : evidence.trial().rounds)
    logs.push_back(std::log(round.samples_per_s()));
  spread.add(logs);
  for (auto probe = evidence.probes.begin(); probe != evidence.probes.end(); ++probe) {
    const auto is_same = [&](const Probe& other) {
      return other.part == probe->part && other.config == probe->config &&
             other.variant == probe->variant && other.round.samples > 0;
    };
    if (std::any_of(evidence.probes.begin(), probe, is_same)) continue;  // its group was counted
    logs.clear();
    for (const Probe& other : evidence.probes) {
      if (is_same(other)) logs.push_back(std::log(other.round.samples_per_s()));
    }
    spread.add(logs);
  }
  return spread.deviation();
}

/// The share of the coupled time that noise can make: two standard deviations of the log-ratio of
/// two rounds; at least a tenth, and not so much that a device that is half idle looks fed.
inline double tolerance_of(const Evidence& evidence) {
  const double of_pairs = std::isfinite(evidence.noise) ? evidence.noise : 0;
  const double noise = std::max(of_pairs, std::numbers::sqrt2 * spread_of_rounds(evidence));
  return std::clamp(2 * noise, 0.1, 0.3);
}

}  // namespace detail

/// The account of the reference, which must have rounds and ceilings.
inline Account account_of(const Evidence& evidence) {
  const Ceilings& ceilings = *evidence.trial().ceilings;
  const double rate = evidence.trial().samples_per_s().estimate;
  Account account;
  account.coupled_s = 1 / (ceilings.coupled > 0 ? ceilings.coupled : rate);
  account.device_s = 1 / ceilings.device;
  account.loader_s = 1 / ceilings.loader;
  if (ceilings.copy) account.copy_s = 1 / *ceilings.copy;
  if (const StepDemand* step = evidence.demands.step(evidence.config())) {
    account.launch_s = step->launch_s / evidence.config().batch;
  }
  if (ceilings.cores && evidence.config().workers > 0) account.cores_s = 1 / *ceilings.cores;
  account.limit_s = detail::limit_s(account, evidence.config());
  account.tolerance = detail::tolerance_of(evidence);
  const auto& wanted = evidence.environment.wanted;
  account.allowed = wanted ? 1 - *wanted : account.tolerance;
  return account;
}

}  // namespace feedrate::inline v0
