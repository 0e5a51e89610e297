// SPDX-License-Identifier: Apache-2.0
// Claims: the time that each cause asks for, before claims on the same time are settled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "feedrate/tune/diagnose/evidence.hpp"
#include "feedrate/tune/state/diagnosis.hpp"

namespace feedrate::inline v0 {

/// The part of the time that a cause explains.
enum class TimeComponent : std::uint8_t {
  feeding,   ///< from the device's ceiling down to the lowest one
  coupling,  ///< below every ceiling
  gap,       ///< both
  device,    ///< the device's own time: no part of the gap, yet it could be less
};

/// One named cause. `seconds` per sample is what it takes by its own evidence.
struct Claim {
  TimeComponent component = TimeComponent::feeding;
  double seconds = 0;
  Diagnosis diagnosis = {};
};

/// The evidence and its account, as every cause reads them.
struct Case {
  const Evidence& evidence;
  Account account;

  explicit Case(const Evidence& of) : evidence(of), account(account_of(of)) {}

  const Config& config() const { return evidence.config(); }
  const Trial& trial() const { return evidence.trial(); }
  const Environment& environment() const { return evidence.environment; }
  /// Whether the reference loads in the caller.
  bool is_serial() const { return config().workers == 0; }

  /// Whether what a sample takes to load holds the rate back.
  bool is_load_bound() const {
    return is_serial() ? account.feeding_s() > 0
                       : account.is_loader_lowest() || account.is_cores_lowest();
  }

  /// The speed-up when `seconds` of the coupled time go.
  double gain_of(double seconds) const noexcept {
    const double left = std::max(account.coupled_s - seconds, account.coupled_s / 1000);
    return account.coupled_s / left;
  }

  /// The time that a speed-up takes away.
  double seconds_of(double gain) const noexcept { return account.coupled_s * (1 - 1 / gain); }

  /// What is left of the limit when loading a sample costs `saved_s` less of `sum_s`, both on one
  /// core: the loader gets faster in proportion, and the cores have so much less to do.
  double limit_without(double saved_s, double sum_s) const noexcept {
    Account less = account;
    less.loader_s *= 1 - saved_s / sum_s;
    const double shared_s = saved_s / evidence.cores();
    if (less.cores_s > 0) less.cores_s = std::max(less.cores_s - shared_s, 0.0);
    return detail::limit_s(less, config());
  }
};

}  // namespace feedrate::inline v0
