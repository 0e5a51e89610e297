// SPDX-License-Identifier: Apache-2.0
// Causes that lie in what a sample costs to load.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "feedrate/tune/diagnose/causes_placement.hpp"

namespace feedrate::causes {

/// A part dominates when it is at least half of the time to load a sample.
inline bool dominates(double part_s, const LoadCosts& load) noexcept {
  return load.sum_s() > 0 && part_s >= 0.5 * load.sum_s();
}

inline std::string share_of_loading(std::string_view part, double part_s, const LoadCosts& load) {
  return " " + std::string(part) + " is " + percent(part_s / load.sum_s()) +
         " of the time to load a sample.";
}

/// Loader and device alone; without workers, what the caller does.
inline std::string how_load_bound(const Case& of) {
  if (of.is_serial()) {
    return "The caller loads for " + duration(of.account.loader_s) +
           " per sample, the step takes " + duration(of.account.device_s) + ".";
  }
  return loader_against_device(of);
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

/// The same claim with its name, and with what was seen of the part. `verb` is its "Decoding".
inline std::optional<Claim> named(const Case& of, std::optional<Claim> claim, const char* cause,
                                  const char* where, std::string_view verb, double part_s) {
  if (!claim) return claim;
  Diagnosis& says = claim->diagnosis;
  says.cause = cause;
  says.where = where;
  says.evidence = how_load_bound(of);
  const auto& load = of.environment().load;
  if (load && load->sum_s() > 0) says.evidence += share_of_loading(verb, part_s, *load);
  return claim;
}

/// Decoding repeats the same work every epoch.
inline std::optional<Claim> preprocess_offline(const Case& of) {
  const double part_s = of.environment().load.value_or(LoadCosts{}).decode_s;
  auto claim = named(of, without_part(of, "decoded", part_s), "preprocess_offline", "decode",
                     "Decoding", part_s);
  if (!claim) return claim;
  claim->diagnosis.remedy =
      "Decode once and store the samples decoded, or smaller: this work is the same in every epoch."
      " Decoded samples need more storage; check that it holds and reads them.";
  return claim;
}

/// Copies of floats, and augmentation in the loader, are work for a device of its own.
inline std::optional<Claim> preprocess_on_device(const Case& of) {
  if (auto claim = convert_on_device(of)) return claim;
  if (of.account.copy_s == 0 && !of.environment().emulated) return std::nullopt;
  const double part_s = of.environment().load.value_or(LoadCosts{}).augment_s;
  auto claim = named(of, without_part(of, "unaugmented", part_s), "preprocess_on_device", "augment",
                     "Augmenting", part_s);
  if (!claim) return claim;
  claim->diagnosis.remedy =
      "Send raw bytes, and crop, mirror and normalise on the device, which waits meanwhile.";
  return claim;
}

/// Seconds per sample by which storage is slower than the page cache; 0 where it isn't used.
inline double storage_excess_s(const Case& of) noexcept {
  const auto& reads = of.environment().reads;
  if (!of.environment().cold || !reads || reads->storage_bytes_per_s <= 0) return 0;
  const double cached_s = reads->cached_bytes_per_s > 0 ? 1 / reads->cached_bytes_per_s : 0;
  return std::max(0.0, reads->sample_bytes * (1 / reads->storage_bytes_per_s - cached_s));
}

inline std::string storage_evidence(const Case& of, double excess_s) {
  std::string text = how_load_bound(of);
  if (excess_s > 0) {
    const ReadSpeeds& reads = *of.environment().reads;
    text += " Storage gives " + formatted("%.3g", reads.storage_bytes_per_s * 1e-6) +
            " MB/s, which is " + rate(reads.storage_bytes_per_s / reads.sample_bytes) +
            "; the page cache " + formatted("%.3g", reads.cached_bytes_per_s * 1e-6) + " MB/s.";
  }
  const auto& load = of.environment().load;
  if (load && load->sum_s() > 0) text += share_of_loading("Reading", load->read_s, *load);
  return text;
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
  return Claim{TimeComponent::feeding,
               seconds,
               {"storage_slow", 0, storage_evidence(of, excess_s),
                "Keep the data on local flash or in memory, or pack them into few large files that "
                "are read in sequence.",
                of.gain_of(seconds), false, "read"}};
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
  double samples = 0;
  for (const Round& round : of.trial().rounds) samples += static_cast<double>(round.samples);
  BoundaryCost cost;
  const double part = used > 0 ? std::min(used, epoch) : epoch;
  if (samples >= part) cost.measured_s = boundary_s / part;
  cost.real_s = boundary_s / epoch;
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
              in_gap ? cost.measured_s : cost.real_s};
  Diagnosis& says = claim.diagnosis;
  says.cause = "epoch_boundary";
  says.gain = cost.gain();
  says.evidence = "Going on to the next epoch costs " + duration(boundary_s) + ", " +
                  percent(cost.share()) + " of the time of an epoch of " +
                  formatted("%.0f", epoch) + " samples.";
  says.remedy =
      "Keep workers and files open across epochs, prefetch across the boundary, or go through the "
      "data several times per epoch.";
  if (cost.share() < 0.1) {
    says.remedy =
        "That it weighs more here is because the rounds go through a part of the data "
        "again and again: training meets it less often.";
  }
  return claim;
}

/// The dearest part of loading, by name; empty where the parts are unknown.
inline std::string dearest_part(const Case& of) {
  const LoadCosts load = of.environment().load.value_or(LoadCosts{});
  const double most = std::max({load.read_s, load.decode_s, load.augment_s});
  if (most <= 0) return "";
  if (most == load.read_s) return "read";
  return most == load.decode_s ? "decode" : "augment";
}

inline std::string starvation_remedy(std::string_view where) {
  if (where == "read") return "Read from faster storage, or fewer bytes per sample.";
  if (where == "decode") return "Make samples cheaper to decode: store them smaller or decoded.";
  if (where == "augment") return "Make augmentation cheaper, or do it on the device.";
  if (where == "copy") return "Copy fewer bytes: send integers, and convert them on the device.";
  return "Make samples cheaper to load, or give the workers more cores.";
}

/// What no sharper cause takes of the feeding: the device waits for data. How much of it the remedy
/// takes away nobody knows, so it has no gain; the evidence says the most that it could be.
inline std::optional<Claim> data_starvation(const Case& of) {
  const Account& time = of.account;
  if (time.feeding_s() == 0) return std::nullopt;
  Claim claim{
      TimeComponent::feeding, time.feeding_s(), {"data_starvation", 0, "", "", std::nullopt}};
  Diagnosis& says = claim.diagnosis;
  says.where = time.is_copy_lowest() ? "copy" : dearest_part(of);
  if (says.where == "copy") {
    says.evidence = "Copies alone reach " + rate(1 / time.copy_s) + ", the device alone " +
                    rate(1 / time.device_s) + ".";
  } else {
    says.evidence = how_load_bound(of);
    const LoadCosts load = of.environment().load.value_or(LoadCosts{});
    const double part_s = std::max({load.read_s, load.decode_s, load.augment_s});
    if (part_s > 0) says.evidence += share_of_loading("Of its parts, " + says.where, part_s, load);
  }
  says.evidence += " If " + std::string(says.where == "copy" ? "copies" : "samples") +
                   " cost nothing it would be " + times(of.gain_of(claim.seconds)) + " as fast.";
  says.remedy = starvation_remedy(says.where);
  return claim;
}

}  // namespace feedrate::causes
