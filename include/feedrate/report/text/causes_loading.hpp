// SPDX-License-Identifier: Apache-2.0
// The sentences on causes in loading.
#pragma once

#include <string>

#include "feedrate/report/text/cause_words.hpp"

namespace feedrate::inline v0::cause_words {

inline CauseText no_overlap(const Diagnosis& d, const Config& now) {
  return {"The step waits for data " + format_percent(d.numbers.waiting_share) +
              " of the time: no worker loads in advance.",
          load_time(d.numbers), "Load in the background: " + settings(d, now) + "."};
}

inline CauseText too_few_workers(const Diagnosis& d, const Config& now) {
  return {loader_against_device(d.numbers, now), load_time(d.numbers),
          "Use more workers: " + settings(d, now) + "."};
}

inline CauseText waiting_samples(const Diagnosis& d, const Config& now) {
  return {loader_against_device(d.numbers, now), load_time(d.numbers),
          "Workers mostly wait, so use more workers than cores: " + settings(d, now) + "."};
}

/// "; 2 workers would be 1.3x as fast.", where that is known.
inline std::string with_other_workers(const Diagnosis& d) {
  if (!d.gain) return ".";
  return "; " + counted(d.remedy->workers, "worker") + " would be " + factor(*d.gain) + " as fast.";
}

inline CauseText too_many_workers(const Diagnosis& d, const Config& now) {
  return {counted(now.workers, "worker") + " share " + counted(d.numbers.cores, "core") +
              with_other_workers(d),
          {},
          "Use fewer workers: " + settings(d, now) + "."};
}

/// Too many workers for the quota, or too much work.
inline CauseText quota_below_cpus(const Diagnosis& d, const Config& now) {
  const std::string quota = "The CPU quota allows " + count_text(d.numbers.quota_cpus) + " of " +
                            counted(d.numbers.visible_cpus, "CPU");
  if (!d.remedy) {
    return {quota + ", and loading uses all of it.", {}, "Raise the CPU quota, then add workers."};
  }
  return {
      quota + ", but " + counted(now.workers, "worker") + " compete for it" + with_other_workers(d),
      {},
      "Choose workers by the quota: " + settings(d, now) + "."};
}

/// Pools within the workers, or too many threads of the step beside them.
inline CauseText nested_thread_pools(const Diagnosis& d, const Config& now) {
  const std::string share = " share " + counted(d.numbers.cores, "core") + ".";
  const bool shares = now.workers > 0 && now.workers + now.step_threads > d.numbers.cores;
  if (d.variable.empty() && !shares && d.remedy) {
    return {"Training is slower with " + counted(now.step_threads, "step thread") + " than with " +
                std::to_string(d.remedy->step_threads) + ".",
            {},
            "Use fewer threads: " + settings(d, now) + "."};
  }
  if (d.variable.empty()) {
    return {
        counted(now.step_threads, "step thread") + " and " + counted(now.workers, "worker") + share,
        {},
        "Leave cores to the workers: " + settings(d, now) + "."};
  }
  return {counted(now.workers, "worker") + ", each with a pool of " +
              counted(d.numbers.pool_threads, "thread") + " (" + d.variable + ")," + share,
          "A sample takes " + factor(d.numbers.cpu_inflation) +
              " the CPU time that it takes with 1 worker.",
          "Set " + d.variable + "=1 for the workers."};
}

inline std::string starvation_remedy(Where where) {
  switch (where) {
    case Where::read:
      return "Use faster storage, or fewer bytes per sample.";
    case Where::decode:
      return "Store the samples smaller, or already decoded.";
    case Where::augment:
      return "Make augmentation cheaper, or run it on the device.";
    case Where::copy:
      return "Copy fewer bytes: send integers and convert them on the device.";
    default:
      return "Make samples cheaper to load, or add CPU cores.";
  }
}

inline std::string part_name(Where where) {
  switch (where) {
    case Where::read:
      return "Reading";
    case Where::decode:
      return "Decoding";
    case Where::augment:
      return "Augmenting";
    default:
      return {};
  }
}

inline CauseText data_starvation(const Diagnosis& d, const Config& now) {
  const CauseNumbers& numbers = d.numbers;
  const bool copies = d.where == Where::copy;
  std::string details =
      part_name(d.where).empty() ? "" : part_of_loading(part_name(d.where), numbers) + " ";
  details += std::string("If ") + (copies ? "copies" : "samples") + " cost nothing, it would be " +
             factor(numbers.speedup_if_free) + " as fast.";
  return {copies ? "Copies alone reach " + rate(numbers.copy_samples_per_s) + ", the device " +
                       format_number(numbers.device_samples_per_s) + "."
                 : loader_against_device(numbers, now),
          details, starvation_remedy(d.where)};
}

inline CauseText storage_slow(const Diagnosis& d, const Config& now) {
  const CauseNumbers& numbers = d.numbers;
  const std::string part = part_of_loading("Reading", numbers);
  const std::string remedy =
      "Keep the data on local flash or in memory, or pack it into a few large files.";
  if (!known(numbers.storage_bytes_per_s)) {
    return {loader_against_device(numbers, now), part, remedy};
  }
  return {"Storage reads " + format_si(numbers.storage_bytes_per_s, "B/s") + ", enough for " +
              rate(numbers.storage_samples_per_s) + "; the page cache reads " +
              format_si(numbers.cached_bytes_per_s, "B/s") + ".",
          loader_against_device(numbers, now) + (part.empty() ? "" : " " + part), remedy};
}

inline CauseText preprocess_offline(const Diagnosis& d, const Config& now) {
  return {loader_against_device(d.numbers, now), part_of_loading("Decoding", d.numbers),
          "Store the samples decoded, or smaller: decoding repeats in every epoch."};
}

/// Pixels that become floats before the copy, or augmentation in the loader.
inline CauseText preprocess_on_device(const Diagnosis& d, const Config& now) {
  const CauseNumbers& numbers = d.numbers;
  if (!d.remedy) {
    return {loader_against_device(numbers, now), part_of_loading("Augmenting", numbers),
            "Send raw bytes; crop, mirror and normalise them on the device."};
  }
  return {"Workers turn pixels into floats before the copy" +
              (d.gain ? "; on the device it is " + factor(*d.gain) + " as fast." : "."),
          known(numbers.copy_samples_per_s)
              ? "Copies reach " + rate(numbers.copy_samples_per_s) + " as floats and " +
                    rate(numbers.better_copy_samples_per_s) + " as bytes."
              : "",
          "Copy bytes and convert them on the device: preprocess device."};
}

inline CauseText epoch_boundary(const Diagnosis& d) {
  const bool is_rarer_in_training = d.numbers.boundary_share < 0.1;
  return {"Starting the next epoch takes " + format_duration(d.numbers.boundary_s) + ", " +
              format_percent(d.numbers.boundary_share) + " of an epoch of " +
              count_text(d.numbers.epoch_samples) + " samples.",
          {},
          is_rarer_in_training
              ? "Nothing to do: these rounds repeat a part of the data, so they start epochs more "
                "often than training does."
              : "Keep workers open across epochs, and prefetch across the boundary."};
}

}  // namespace feedrate::inline v0::cause_words
