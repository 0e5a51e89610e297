// SPDX-License-Identifier: Apache-2.0
// Diagnosis: which causes cost the time that the device does not train, and what mends them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "feedrate/tune/diagnose/causes_batch.hpp"
#include "feedrate/tune/diagnose/causes_coupling.hpp"
#include "feedrate/tune/diagnose/causes_device.hpp"
#include "feedrate/tune/diagnose/causes_samples.hpp"
#include "feedrate/tune/diagnose/causes_threads.hpp"
#include "feedrate/tune/diagnose/causes_workers.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// All causes. Where two want the same time, the earlier one has it: sharper evidence before
/// broader, cheaper remedies before dearer, and what is only named when nothing else is, last.
inline constexpr std::array known_causes = {
    causes::quota_below_cpus,     causes::nested_thread_pools, causes::too_many_workers,
    causes::pageable_copies,      causes::host_sync,           causes::epoch_boundary,
    causes::no_overlap,           causes::too_few_workers,     causes::waiting_samples,
    causes::storage_slow,         causes::lock_in_loading,     causes::preprocess_offline,
    causes::preprocess_on_device, causes::shared_cores,        causes::interference,
    causes::data_starvation,      causes::throttling,          causes::other_gpu_processes,
    causes::work_too_small,       causes::batch_too_small,     causes::batch_too_large,
    causes::precision_not_used};

/// The time of the gap that no cause has yet, in seconds per sample.
class Ledger {
 public:
  explicit Ledger(const Account& account)
      : feeding_s_(account.feeding_s()), coupling_s_(account.coupling_s()) {}

  /// How much of `seconds` there still is.
  double take(TimeComponent component, double seconds) noexcept {
    if (component == TimeComponent::feeding) return take(feeding_s_, seconds);
    if (component == TimeComponent::coupling) return take(coupling_s_, seconds);
    const double first = take(coupling_s_, seconds);
    return first + take(feeding_s_, seconds - first);
  }

 private:
  static double take(double& left_s, double seconds) noexcept {
    const double taken = std::clamp(seconds, 0.0, left_s);
    left_s -= taken;
    return taken;
  }

  double feeding_s_;
  double coupling_s_;
};

/// What of its time a claim gets. A gain that is a model's is what goes with that time: what others
/// have taken is not gained twice.
inline void take_own(const Case& of, Ledger& ledger, Claim& claim) {
  const double wanted_s = std::exchange(claim.seconds, ledger.take(claim.component, claim.seconds));
  claim.diagnosis.share_of_gap = std::min(claim.seconds / of.account.gap_s(), 1.0);
  auto& gain = claim.diagnosis.gain;
  const bool is_model = gain && !claim.diagnosis.measured;
  if (is_model && claim.seconds < wanted_s) gain = std::min(*gain, of.gain_of(claim.seconds));
}

/// Gives each claim what is left of its time; what then takes less than a twentieth of the coupled
/// time is not worth naming.
inline std::vector<Claim> settle(const Case& of) {
  Ledger ledger(of.account);
  std::vector<Claim> settled;
  for (const auto cause : known_causes) {
    std::optional<Claim> claim = cause(of);
    if (!claim || (claim->component != TimeComponent::device && !of.account.has_gap())) continue;
    if (claim->component != TimeComponent::device) {
      Ledger before = ledger;
      take_own(of, ledger, *claim);
      if (claim->seconds < 0.05 * of.account.coupled_s) {
        ledger = before;
        continue;
      }
    }
    settled.push_back(std::move(*claim));
  }
  std::stable_sort(settled.begin(), settled.end(),
                   [](const Claim& a, const Claim& b) { return a.seconds > b.seconds; });
  return settled;
}

/// Interference of which nobody knows what is shared has a name, but no explanation.
inline bool explains(const Diagnosis& diagnosis) {
  return diagnosis.cause != Cause::interference || diagnosis.where != Where::unknown;
}

inline double unexplained(const Case& of, const std::vector<Diagnosis>& diagnoses) {
  if (!of.account.has_gap()) return 0;
  double explained = 0;
  for (const Diagnosis& diagnosis : diagnoses) {
    if (explains(diagnosis)) explained += diagnosis.share_of_gap;
  }
  return std::clamp(1 - explained, 0.0, 1.0);
}

}  // namespace detail

/// The causes of what the reference loses, largest first, and the share of its gap that they leave
/// open. The gap is the time per sample beyond the device's own ceiling of that very config;
/// causes that lie in the device's own time have no share of it, but a gain.
///
/// Each cause is a pure function of the evidence. No two share time of the gap, so that shares add
/// up to at most 1; gains of the device's own time may be of the same time. A gap of less than a
/// tenth of the time, or less than noise can make, is none; on an emulated accelerator one that
/// leaves the utilization wanted.
inline std::pair<std::vector<Diagnosis>, double> diagnose(const Evidence& evidence) {
  if (evidence.trials.empty() || !evidence.is_complete()) return {};
  const Case of(evidence);
  std::vector<Diagnosis> diagnoses;
  for (Claim& claim : detail::settle(of)) diagnoses.push_back(std::move(claim.diagnosis));
  const double open = detail::unexplained(of, diagnoses);
  return {std::move(diagnoses), open};
}

/// Writes the causes into the outcome, by all that it holds by now. Without a recommendation too
/// little is known.
inline void diagnose(Outcome& outcome, const Environment& environment) {
  if (outcome.tiers.empty()) return;
  std::tie(outcome.diagnoses, outcome.unexplained_share) =
      diagnose(evidence_of(outcome, environment));
}

}  // namespace feedrate::inline v0
