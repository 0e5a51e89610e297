// SPDX-License-Identifier: Apache-2.0
// The memory limit of configs: those that need more by prediction are not tried.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "feedrate/core/axes.hpp"
#include "feedrate/measure/measurer.hpp"
#include "feedrate/measure/trial.hpp"
#include "feedrate/tune/state/options.hpp"

namespace feedrate::inline v0 {

/// Asks the measurer for each config, and once for all that take the same device memory.
class MemoryLimit {
 public:
  MemoryLimit(Measurer& measurer, const TuneOptions& options)
      : measurer_(measurer),
        host_(options.max_memory_bytes),
        own_(options.max_device_memory_bytes) {}

  /// Why `config` can't be tried; empty where it fits.
  TrialReason why_not(const Config& config) {
    if (host_ != unlimited) {
      const std::uint64_t bytes = measurer_.memory_bytes(config);
      if (bytes > host_) return {Why::memory, {}, bytes, host_};
    }
    if (own_ != unlimited) {
      Config on_device = config;  // how its batches come there takes none of it
      on_device.workers = on_device.prefetch = 0;
      on_device.pinned = false;
      const std::uint64_t bytes = device_bytes(on_device);
      if (bytes > own_) return {Why::device_memory, {}, bytes, own_};
    }
    return {};
  }

  /// Marks a trial that can't be tried.
  void judge(Trial& trial) {
    TrialReason why = why_not(trial.config);
    if (why.empty()) return;
    trial.reason = std::move(why);
    trial.status = TrialStatus::infeasible;
  }

  /// Of a script's memory more is known once a config has run for the first time: of that one what
  /// it took, of the others a better prediction. The reference is what the user has, whatever it
  /// takes.
  void judge_again(std::vector<Trial>& trials, std::size_t reference) {
    if (host_ == unlimited || !measurer_.learns_memory()) return;
    for (std::size_t t = 0; t < trials.size(); ++t) {
      const bool is_settled =
          trials[t].status == TrialStatus::failed || trials[t].status == TrialStatus::infeasible;
      if (t != reference && !is_settled && trials[t].rounds.size() <= 1) judge(trials[t]);
    }
  }

 private:
  static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

  std::uint64_t device_bytes(const Config& config) {
    for (const auto& [known, bytes] : own_bytes_) {
      if (known == config) return bytes;
    }
    own_bytes_.emplace_back(config, measurer_.device_memory_bytes(config));
    return own_bytes_.back().second;
  }

  Measurer& measurer_;
  std::uint64_t host_, own_;
  std::vector<std::pair<Config, std::uint64_t>> own_bytes_;  ///< what was asked for
};

}  // namespace feedrate::inline v0
