// SPDX-License-Identifier: Apache-2.0
// Bounds: the ceilings that several configs share, and the rate that none of them can exceed.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "feedrate/core/config.hpp"
#include "feedrate/measure/round.hpp"

namespace feedrate {

/// One part of the pipeline measured alone.
struct PartRate {
  double samples_per_s = 0;
  double cpu_s_per_sample = 0;  ///< core-seconds
  bool predicted = false;

  static PartRate of(const Round& round) noexcept {
    return {round.samples_per_s(), round.cpu_s / static_cast<double>(round.samples), false};
  }
};

/// Rates of loader and step, by the axes that they depend on.
class Bounds {
 public:
  explicit Bounds(double cores) : cores_(cores) {}

  void set_loader(const Config& config, const PartRate& rate) { loader_[config.workers] = rate; }
  void set_device(const Config& config, const PartRate& rate) {
    device_[device_key(config)] = rate;
  }

  std::optional<PartRate> loader(const Config& config) const {
    return find(loader_, config.workers);
  }
  std::optional<PartRate> device(const Config& config) const {
    return find(device_, device_key(config));
  }

  /// No coupled rate of `config` can exceed this; empty where a part was not measured.
  ///
  /// Without workers the caller loads, then steps: the times add up. With workers the lowest
  /// ceiling holds, and the cores that loader and step share.
  std::optional<double> samples_per_s(const Config& config) const {
    const auto loads = loader(config);
    const auto steps = device(config);
    if (!loads || !steps) return std::nullopt;
    if (config.workers == 0) return 1 / (1 / loads->samples_per_s + 1 / steps->samples_per_s);
    return std::min({loads->samples_per_s, steps->samples_per_s, shared_cores(*loads, *steps)});
  }

  /// cores / (loader + step core-seconds per sample).
  double shared_cores(const PartRate& loads, const PartRate& steps) const noexcept {
    return cores_ / (loads.cpu_s_per_sample + steps.cpu_s_per_sample);
  }

 private:
  using DeviceKey = std::tuple<Precision, int, int>;

  static DeviceKey device_key(const Config& config) noexcept {
    return {config.precision, config.step_threads, config.batch};
  }

  template <class Map, class Key>
  static std::optional<PartRate> find(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }

  double cores_;
  std::map<int, PartRate> loader_;
  std::map<DeviceKey, PartRate> device_;
};

}  // namespace feedrate
