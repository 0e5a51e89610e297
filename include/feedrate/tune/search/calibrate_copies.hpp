// SPDX-License-Identifier: Apache-2.0
// Calibration of the copies: from each kind of memory, in each form of the samples.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "feedrate/tune/state/open_values.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// An open config of each batch of those that `wanted` names, but for those that failed, as it is
/// probed: with no batch ahead, so that it needs no more memory than any other. The reference's
/// place of preprocessing and its accumulation come first.
template <class Wanted>
std::map<int, Config> open_by_batch(const Sweep& sweep, const std::vector<Config>& failed,
                                    Wanted&& wanted) {
  const int effective = sweep.options().space.effective_batch;
  const auto similarity_kernel = [&](const Config& config) {
    const int accumulate = effective > 0 ? std::max(1, effective / config.batch) : 1;
    return 2 * (config.preprocess == sweep.reference().preprocess) +
           (config.accumulate == accumulate);
  };
  std::map<int, Config> found;
  for (std::size_t t = 0; t < sweep.outcome().trials.size(); ++t) {
    Config config = sweep.trial(t).config;
    if (!sweep.is_open(t) || !wanted(config)) continue;
    config.workers = config.prefetch = 0;
    if (std::find(failed.begin(), failed.end(), config) != failed.end()) continue;
    const auto [known, added] = found.try_emplace(config.batch, config);
    if (!added && similarity_kernel(config) > similarity_kernel(known->second))
      known->second = config;
  }
  return found;
}

/// Probes the copies and leaves their rates with the sweep.
class CopyCalibration {
 public:
  /// `failed` are configs whose step alone failed.
  CopyCalibration(Sweep& sweep, double share, const std::vector<Config>& failed)
      : sweep_(sweep), share_(share), failed_(failed) {}

  /// Copies from either kind of memory, of the largest batch that works.
  void run() {
    if (!sweep_.measurer().copies()) return;
    const std::set<Preprocess> places = open_values(sweep_, &Config::preprocess);
    if (places.empty()) return;
    const Preprocess own = sweep_.reference().preprocess;
    const Preprocess usual = places.contains(own) ? own : *places.begin();
    std::optional<Copied> copied;
    for (const bool pinned : open_values(sweep_, &Config::pinned)) {
      const auto now = measure_copy(usual, pinned, std::numeric_limits<int>::max());
      if (!now) continue;
      (pinned ? demands().copy_pinned : demands().copy_pageable) = now->samples_per_s;
      copied = now;
    }
    if (copied) measure_other_bytes(*copied, places);
  }

 private:
  /// The rate of copies, and the config that was asked for it.
  struct Copied {
    Config config;
    double samples_per_s;
  };

  Demands& demands() { return sweep_.outcome().demands; }
  bool out_of_time() { return sweep_.stopped() || sweep_.is_past(share_); }

  /// Where samples are preprocessed decides how many bytes of them travel, from either memory.
  void measure_other_bytes(const Copied& usual, const std::set<Preprocess>& places) {
    for (const Preprocess place : places) {
      if (place == usual.config.preprocess) continue;
      const auto other = measure_copy(place, usual.config.pinned, usual.config.batch);
      if (other) demands().copy_factor[place] = other->samples_per_s / usual.samples_per_s;
    }
  }

  /// The rate of copies of the largest batch up to `most` that works.
  std::optional<Copied> measure_copy(Preprocess place, bool pinned, int most) {
    const std::map<int, Config> configs = open_by_batch(sweep_, failed_, [&](const Config& config) {
      return config.preprocess == place && config.pinned == pinned && config.batch <= most;
    });
    for (auto config = configs.rbegin(); config != configs.rend(); ++config) {
      if (const auto rate = probe_copy(config->second)) return Copied{config->second, *rate};
    }
    return std::nullopt;
  }

  std::optional<double> probe_copy(const Config& config) {
    if (out_of_time()) return std::nullopt;
    const auto round = sweep_.probe({Part::copy, config, sweep_.probe_options()}, "calibrate");
    return round ? std::optional(round->samples_per_s()) : std::nullopt;
  }

  Sweep& sweep_;
  double share_;
  const std::vector<Config>& failed_;
};

}  // namespace feedrate::inline v0
