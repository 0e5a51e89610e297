// SPDX-License-Identifier: Apache-2.0
// A trial: one config and all its measurements.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/measure/round.hpp"
#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

/// What became of a trial.
enum class TrialStatus : std::uint8_t {
  measured,
  predicted,    ///< its rate is a prediction: no round of it was run, `reason` says why
  infeasible,   ///< needs more memory than allowed, or than there is
  not_reached,  ///< the budget ended first
  failed,       ///< threw; the reason says what
};

constexpr std::string_view name_of(TrialStatus status) noexcept {
  constexpr std::array<std::string_view, 5> names = {"measured", "predicted", "infeasible",
                                                     "not_reached", "failed"};
  return names[static_cast<std::size_t>(status)];
}

/// Why a trial lacks a result, or a part of it.
enum class Why : std::uint8_t {
  none,
  error,           ///< `error` says what
  memory,          ///< it needs more than is allowed
  device_memory,   ///< the same, of the device's own
  round_too_long,  ///< for the budget
  budget_ended,    ///< before its turn
  too_little_to_gain,
  no_ceilings,        ///< they were not measured: `error`
  no_memory,          ///< how much it takes is unknown: `error`
  no_epoch_boundary,  ///< it was not measured: `error`
};

/// The reason of a trial, as data.
struct TrialReason {
  Why why = Why::none;
  std::string error = {};  ///< a sentence, of what failed
  std::uint64_t needed_bytes = 0, allowed_bytes = 0;

  bool empty() const noexcept { return why == Why::none; }
  friend bool operator==(const TrialReason&, const TrialReason&) = default;
};

/// Rates of the parts, each measured alone, in samples/s.
struct Ceilings {
  double loader = 0;
  std::optional<double> copy = {};  ///< empty where the device reads the slot in place
  double device = 0;
  /// On the cpu device loader and step share the cores: the bound is
  /// cores / (loader + step core-seconds per sample).
  std::optional<double> cores = {};
  double coupled = 0;  ///< samples/s of all of it, measured in turn with the parts; 0: not so
  double lowest() const noexcept {
    return std::min({loader, device, copy.value_or(loader), cores.value_or(loader)});
  }
};

/// One measured config.
struct Trial {
  Config config;
  TrialStatus status = TrialStatus::not_reached;
  TrialReason reason;       ///< why it was not measured
  std::string stderr_tail;  ///< the last lines of its process, where that died
  std::vector<Round> rounds;
  std::optional<Ceilings> ceilings;
  double predicted_samples_per_s = 0;  ///< before its first round, if it had any; 0: none
  double epoch_boundary_s = -1;        ///< what going on to the next epoch costs; < 0: unmeasured
  std::size_t memory_bytes = 0;        ///< slots and step

  /// Geometric mean over the rounds and its 95 % interval. Needs a round.
  Interval samples_per_s() const {
    std::vector<double> rates(rounds.size());
    std::transform(rounds.begin(), rounds.end(), rates.begin(),
                   [](const Round& round) { return round.samples_per_s(); });
    return geometric_interval(rates, 0.05);
  }

  /// Mean over the rounds of what `part(round)` says.
  template <class Part>
  double mean_of(Part&& part) const {
    double sum = 0;
    for (const Round& round : rounds) sum += part(round);
    return sum / static_cast<double>(rounds.size());
  }

  /// The same over the rounds that know it, where it is not below 0; empty where none does.
  template <class Part>
  std::optional<double> known_mean(Part&& part) const {
    const double mean = mean_of_told(rounds, part);
    return mean < 0 ? std::nullopt : std::optional(mean);
  }

  /// Share of the time in which the device was in steps; empty where that is unknown, as below.
  std::optional<double> busy() const {
    return known_mean([](const Round& round) { return round.busy(); });
  }
  /// Share of the time in which the step waited for data.
  std::optional<double> waiting() const {
    return known_mean([](const Round& round) { return round.wait_s / round.duration_s; });
  }
  /// What nvidia-smi shows of the GPU meanwhile.
  std::optional<double> nvml_busy() const {
    return known_mean([](const Round& round) { return round.nvml_busy; });
  }
  /// What the parts of the GPU did meanwhile.
  GpuActivity gpm() const {
    return mean_activity(rounds, [](const Round& round) { return round.gpm; });
  }
  /// The most of the device's own memory that was in use behind a round, by all; 0: it has none.
  std::uint64_t device_bytes() const noexcept {
    std::uint64_t most = 0;
    for (const Round& round : rounds) most = std::max(most, round.device_bytes);
    return most;
  }
  double first_batch_s() const {
    return mean_of([](const Round& round) { return round.first_batch_s; });
  }

  /// Coupled rate over the device ceiling of this very config.
  std::optional<double> fed() const {
    if (!ceilings || rounds.empty()) return std::nullopt;
    return coupled_rate() / ceilings->device;
  }
  /// Lowest ceiling over the coupled rate: what loader and step cost each other. Empty without
  /// workers, where they take turns.
  std::optional<double> interference() const {
    if (!ceilings || rounds.empty() || config.workers == 0) return std::nullopt;
    return ceilings->lowest() / coupled_rate();
  }

 private:
  /// Measured in turn with the ceilings, where it was: machines drift.
  double coupled_rate() const {
    return ceilings->coupled > 0 ? ceilings->coupled : samples_per_s().estimate;
  }
};

}  // namespace feedrate::inline v0
