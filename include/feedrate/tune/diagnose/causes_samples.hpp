// SPDX-License-Identifier: Apache-2.0
// Causes that lie in what a sample costs to load.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "feedrate/tune/diagnose/causes_workers.hpp"

namespace feedrate::inline v0::causes {

/// A part dominates when it is at least half of the time to load a sample.
inline bool dominates(double part_s, const LoadCosts& load) noexcept {
  return load.sum_s() > 0 && part_s >= 0.5 * load.sum_s();
}

/// Loader and device alone, and the share of a part of loading where the parts are known.
inline void add_part(const Case& of, double part_s, CauseNumbers& numbers) {
  add_ceilings(of, numbers);
  const auto& load = of.environment().load;
  if (load && load->sum_s() > 0) numbers.part_share = part_s / load->sum_s();
}

/// What was measured of the reference's config with one cost taken away.
inline const WhatIf* ablation(const Case& of, std::string_view name) {
  for (const WhatIf& what : of.evidence.what_if) {
    if (what.name == name && what.config == of.config()) return &what;
  }
  return nullptr;
}

/// A claim on what goes when a part of the loading goes: as measured without that part, else as
/// the parts say where it dominates. Empty where neither shows a gain.
inline std::optional<Claim> without_part(const Case& of, std::string_view variant, double part_s) {
  if (!of.is_load_bound()) return std::nullopt;
  Claim claim;
  if (const WhatIf* what = ablation(of, variant)) {
    if (what->speedup.low <= 1) return std::nullopt;
    claim.diagnosis.measured = true;
    claim.seconds = of.seconds_of(what->speedup.estimate);
  } else {
    const auto& load = of.environment().load;
    if (!load || !dominates(part_s, *load)) return std::nullopt;
    claim.seconds = of.account.limit_s - of.limit_without(part_s, load->sum_s());
  }
  claim.diagnosis.gain = of.gain_of(claim.seconds);
  if (*claim.diagnosis.gain < least_gain) return std::nullopt;
  return claim;
}

/// The same claim with its name, and with what was seen of the part.
inline std::optional<Claim> named(const Case& of, std::optional<Claim> claim, Cause cause,
                                  Where where, double part_s) {
  if (!claim) return claim;
  claim->diagnosis.cause = cause;
  claim->diagnosis.where = where;
  add_part(of, part_s, claim->diagnosis.numbers);
  return claim;
}

/// Decoding repeats the same work every epoch.
inline std::optional<Claim> preprocess_offline(const Case& of) {
  const double part_s = of.environment().load.value_or(LoadCosts{}).decode_s;
  return named(of, without_part(of, "decoded", part_s), Cause::preprocess_offline, Where::decode,
               part_s);
}

/// The reference with its pixels converted on the device, where it converts them in the workers.
inline std::optional<Alternative> bytes_on_copy(const Case& of) {
  if (of.config().preprocess == Preprocess::device) return std::nullopt;
  const auto better = alternative(of.evidence, [&](const Config& config) {
    return differs_only_in(&Config::preprocess, of.config(), config);
  });
  return is_worth_it(of, better) ? better : std::nullopt;
}

/// Workers turn pixels into floats before the copy: four times the bytes.
inline std::optional<Claim> convert_on_device(const Case& of) {
  const auto better = bytes_on_copy(of);
  if (!better) return std::nullopt;
  Claim claim = claim_of(of, Cause::preprocess_on_device, TimeComponent::gap, *better);
  const auto floats = of.evidence.demands.copy(of.config());
  const auto bytes = of.evidence.demands.copy(better->config);
  if (floats && bytes && *bytes > *floats) {
    claim.diagnosis.numbers.copy_samples_per_s = *floats;
    claim.diagnosis.numbers.better_copy_samples_per_s = *bytes;
  }
  return claim;
}

/// Copies of floats, and augmentation in the loader, are work for a device of its own.
inline std::optional<Claim> preprocess_on_device(const Case& of) {
  if (auto claim = convert_on_device(of)) return claim;
  if (of.account.copy_s == 0 && !of.environment().emulated) return std::nullopt;
  const double part_s = of.environment().load.value_or(LoadCosts{}).augment_s;
  return named(of, without_part(of, "unaugmented", part_s), Cause::preprocess_on_device,
               Where::augment, part_s);
}

/// Seconds per sample by which storage is slower than the page cache; 0 where it isn't used.
inline double storage_excess_s(const Case& of) noexcept {
  const auto& reads = of.environment().reads;
  if (!of.environment().cold || !reads || reads->storage_bytes_per_s <= 0) return 0;
  const double cached_s = reads->cached_bytes_per_s > 0 ? 1 / reads->cached_bytes_per_s : 0;
  return std::max(0.0, reads->sample_bytes * (1 / reads->storage_bytes_per_s - cached_s));
}

/// Samples come from storage that is slower than the page cache, or reading is most of the work.
inline std::optional<Claim> storage_slow(const Case& of) {
  if (!of.is_load_bound()) return std::nullopt;
  const auto& load = of.environment().load;
  double seconds = std::min(storage_excess_s(of), of.account.feeding_s());
  const double excess_s = seconds;
  if (load && dominates(load->read_s, *load)) {
    seconds = std::max(seconds, of.account.limit_s - of.limit_without(load->read_s, load->sum_s()));
  }
  if (of.gain_of(seconds) < least_gain) return std::nullopt;
  Claim claim = claim_of(of, Cause::storage_slow, TimeComponent::feeding, seconds);
  claim.diagnosis.where = Where::read;
  CauseNumbers& numbers = claim.diagnosis.numbers;
  add_part(of, load ? load->read_s : 0, numbers);
  if (excess_s > 0) {
    const ReadSpeeds& reads = *of.environment().reads;
    numbers.storage_bytes_per_s = reads.storage_bytes_per_s;
    numbers.cached_bytes_per_s = reads.cached_bytes_per_s;
    numbers.storage_samples_per_s = reads.storage_bytes_per_s / reads.sample_bytes;
  }
  return claim;
}

/// What going on to the next epoch costs, spread over the samples of an epoch.
///
/// Rounds that go through a part of the data meet the boundary more often than training will: what
/// they lose there is a part of the gap, and what training loses is the gain.
struct BoundaryCost {
  double measured_s = 0;  ///< per sample of the rounds; 0: they never met it
  double real_s = 0;      ///< per sample of whole epochs
  double sample_s = 0;    ///< that a sample takes in whole epochs

  double share() const noexcept { return real_s / sample_s; }
  double gain() const noexcept {
    return sample_s / (sample_s - std::min(real_s, 0.999 * sample_s));
  }
};

inline BoundaryCost boundary_cost(const Case& of, double boundary_s) {
  const auto epoch = static_cast<double>(of.environment().samples_per_epoch);
  const auto used = static_cast<double>(of.environment().samples_used);
  double samples = 0, counted_s = 0;
  for (const Round& round : of.trial().rounds) {
    samples += static_cast<double>(round.samples);
    counted_s += round.boundary_s;
  }
  BoundaryCost cost;
  const double part = used > 0 ? std::min(used, epoch) : epoch;
  if (samples >= part) cost.measured_s = boundary_s / part;
  cost.real_s = boundary_s / epoch;
  if (counted_s > 0) cost.measured_s = cost.real_s = counted_s / samples;
  const double others_s = of.account.coupled_s - cost.measured_s;
  cost.sample_s = std::max(others_s, of.account.coupled_s / 1000) + cost.real_s;
  return cost;
}

/// Going on to the next epoch takes a tenth of the time, of training or of what was measured.
inline std::optional<Claim> epoch_boundary(const Case& of) {
  const auto epoch = static_cast<double>(of.environment().samples_per_epoch);
  const double boundary_s = of.trial().epoch_boundary_s;
  if (epoch == 0 || boundary_s <= 0) return std::nullopt;
  const BoundaryCost cost = boundary_cost(of, boundary_s);
  const double measured_share = cost.measured_s / of.account.coupled_s;
  if (std::max(cost.share(), measured_share) < 0.1) return std::nullopt;
  const bool in_gap = cost.measured_s > 0;
  Claim claim{in_gap ? TimeComponent::gap : TimeComponent::device,
              in_gap ? cost.measured_s : cost.real_s,
              {.cause = Cause::epoch_boundary, .gain = cost.gain()}};
  claim.diagnosis.numbers.boundary_s = boundary_s;
  claim.diagnosis.numbers.boundary_share = cost.share();
  claim.diagnosis.numbers.epoch_samples = epoch;
  return claim;
}

/// The part of loading that takes longest; unknown where the parts are.
inline Where longest_part(const Case& of) {
  const LoadCosts load = of.environment().load.value_or(LoadCosts{});
  const double most = std::max({load.read_s, load.decode_s, load.augment_s});
  if (most <= 0) return Where::unknown;
  if (most == load.read_s) return Where::read;
  return most == load.decode_s ? Where::decode : Where::augment;
}

/// The device waits for data, and no more specific cause explains it. How much of it a remedy saves
/// is unknown, so it has no gain; `speedup_if_free` is the most that it could be.
inline std::optional<Claim> data_starvation(const Case& of) {
  const Account& time = of.account;
  if (time.feeding_s() == 0) return std::nullopt;
  Claim claim{TimeComponent::feeding, time.feeding_s(), {.cause = Cause::data_starvation}};
  Diagnosis& diagnosis = claim.diagnosis;
  diagnosis.where = time.is_copy_lowest() ? Where::copy : longest_part(of);
  if (diagnosis.where == Where::copy) {
    add_ceilings(of, diagnosis.numbers);
    diagnosis.numbers.copy_samples_per_s = 1 / time.copy_s;
  } else {
    const LoadCosts load = of.environment().load.value_or(LoadCosts{});
    add_part(of, std::max({load.read_s, load.decode_s, load.augment_s}), diagnosis.numbers);
  }
  diagnosis.numbers.speedup_if_free = of.gain_of(claim.seconds);
  return claim;
}

}  // namespace feedrate::inline v0::causes
