// SPDX-License-Identifier: Apache-2.0
// Causes that lie in what a sample costs to load.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "feedrate/tune/causes_workers.hpp"

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
    claim.diagnosis.measured = true;
    claim.seconds = of.seconds_of(what->speedup.estimate);
  } else {
    const auto& load = of.surroundings().load;
    if (!load || !dominates(part_s, *load)) return std::nullopt;
    claim.seconds = of.account.limit_s - of.limit_without(part_s, load->sum_s());
  }
  claim.diagnosis.gain = of.gain_of(claim.seconds);
  if (*claim.diagnosis.gain < least_gain) return std::nullopt;
  return claim;
}

/// Decoding repeats the same work every epoch.
inline std::optional<Claim> preprocess_offline(const Case& of) {
  const LoadCosts load = of.surroundings().load.value_or(LoadCosts{});
  auto claim = without_part(of, "decoded", load.decode_s);
  if (!claim) return claim;
  claim->diagnosis.cause = "preprocess_offline";
  claim->diagnosis.where = "decode";
  claim->diagnosis.evidence = how_load_bound(of);
  if (load.sum_s() > 0) {
    claim->diagnosis.evidence += share_of_loading("Decoding", load.decode_s, load);
  }
  claim->diagnosis.remedy =
      "Decode once and store the samples decoded, or smaller: this work is the same in every epoch."
      " Decoded samples need more storage; check that it holds and reads them.";
  return claim;
}

/// Copies of floats, and augmentation in the loader, are work for a device of its own.
inline std::optional<Claim> preprocess_on_device(const Case& of) {
  const Account& time = of.account;
  if (time.copy_s == 0 && !of.surroundings().emulated) return std::nullopt;
  const LoadCosts load = of.surroundings().load.value_or(LoadCosts{});
  auto claim = without_part(of, "unaugmented", load.augment_s);
  if (!claim) return claim;
  claim->diagnosis.cause = "preprocess_on_device";
  claim->diagnosis.where = "augment";
  claim->diagnosis.evidence = how_load_bound(of);
  if (load.sum_s() > 0) {
    claim->diagnosis.evidence += share_of_loading("Augmenting", load.augment_s, load);
  }
  claim->diagnosis.remedy =
      "Send raw bytes, and crop, mirror and normalise on the device, which waits meanwhile.";
  return claim;
}

/// Seconds per sample by which storage is slower than the page cache; 0 where it isn't used.
inline double storage_excess_s(const Case& of) noexcept {
  const auto& reads = of.surroundings().reads;
  if (!of.surroundings().cold || !reads || reads->storage_bytes_per_s <= 0) return 0;
  const double cached_s = reads->cached_bytes_per_s > 0 ? 1 / reads->cached_bytes_per_s : 0;
  return std::max(0.0, reads->sample_bytes * (1 / reads->storage_bytes_per_s - cached_s));
}

inline std::string storage_evidence(const Case& of, double excess_s) {
  std::string text = how_load_bound(of);
  if (excess_s > 0) {
    const ReadSpeeds& reads = *of.surroundings().reads;
    text += " Storage gives " + formatted("%.3g", reads.storage_bytes_per_s * 1e-6) +
            " MB/s, which is " + rate(reads.storage_bytes_per_s / reads.sample_bytes) +
            "; the page cache " + formatted("%.3g", reads.cached_bytes_per_s * 1e-6) + " MB/s.";
  }
  const auto& load = of.surroundings().load;
  if (load && load->sum_s() > 0) text += share_of_loading("Reading", load->read_s, *load);
  return text;
}

/// Samples come from storage that is slower than the page cache, or reading is most of the work.
inline std::optional<Claim> storage_slow(const Case& of) {
  if (!of.is_load_bound()) return std::nullopt;
  const auto& load = of.surroundings().load;
  double seconds = std::min(storage_excess_s(of), of.account.feeding_s());
  const double excess_s = seconds;
  if (load && dominates(load->read_s, *load)) {
    seconds = std::max(seconds, of.account.limit_s - of.limit_without(load->read_s, load->sum_s()));
  }
  if (of.gain_of(seconds) < least_gain) return std::nullopt;
  return Claim{Pot::feeding,
               seconds,
               {"storage_slow", 0, storage_evidence(of, excess_s),
                "Keep the data on local flash or in memory, or pack them into few large files that "
                "are read in sequence.",
                of.gain_of(seconds), false, "read"}};
}

/// What going on to the next epoch costs, spread over its samples. It is part of the gap where the
/// reference ran for an epoch or more.
inline std::optional<Claim> epoch_boundary(const Case& of) {
  const auto epoch = static_cast<double>(of.surroundings().samples_per_epoch);
  if (epoch == 0 || of.trial().epoch_boundary_s <= 0) return std::nullopt;
  const double seconds = of.trial().epoch_boundary_s / epoch;
  const double share = seconds / of.account.coupled_s;
  if (share < 0.1) return std::nullopt;
  double samples = 0;
  for (const Round& round : of.trial().rounds) samples += static_cast<double>(round.samples);
  return Claim{
      samples >= epoch ? Pot::gap : Pot::device,
      seconds,
      {"epoch_boundary", 0,
       "Going on to the next epoch costs " + duration(of.trial().epoch_boundary_s) + ", " +
           percent(share) + " of the time of an epoch of " + formatted("%.0f", epoch) + " samples.",
       "Keep workers and files open across epochs, prefetch across the boundary, or go "
       "through the data several times per epoch.",
       of.gain_of(seconds), false}};
}

/// The dearest part of loading, by name; empty where the parts are unknown.
inline std::string dearest_part(const Case& of) {
  const LoadCosts load = of.surroundings().load.value_or(LoadCosts{});
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

/// What no sharper cause takes of the feeding: the device waits for data.
inline std::optional<Claim> data_starvation(const Case& of) {
  const Account& time = of.account;
  if (time.feeding_s() == 0) return std::nullopt;
  Claim claim{Pot::feeding, time.feeding_s(), {"data_starvation", 0, "", "", std::nullopt}};
  Diagnosis& says = claim.diagnosis;
  says.gain = of.gain_of(claim.seconds);
  says.where = time.is_copy_lowest() ? "copy" : dearest_part(of);
  if (says.where == "copy") {
    says.evidence = "Copies alone reach " + rate(1 / time.copy_s) + ", the device alone " +
                    rate(1 / time.device_s) + ".";
  } else {
    says.evidence = how_load_bound(of);
    const LoadCosts load = of.surroundings().load.value_or(LoadCosts{});
    const double part_s = std::max({load.read_s, load.decode_s, load.augment_s});
    if (part_s > 0) says.evidence += share_of_loading("Of its parts, " + says.where, part_s, load);
  }
  says.remedy = starvation_remedy(says.where);
  return claim;
}

}  // namespace feedrate::causes
