// SPDX-License-Identifier: Apache-2.0
// The prediction: the coupled rate of any config from the demands of its parts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "feedrate/tune/model/demands.hpp"

namespace feedrate::inline v0 {

/// What holds a config back.
enum class Bottleneck : std::uint8_t { serial, loader, copy, device, cores };

/// What is expected of a config.
struct Prediction {
  double samples_per_s = 0;
  double device_samples_per_s = 0;  ///< of the step alone
  Bottleneck bottleneck = Bottleneck::device;
  double busy_cores = 0;  ///< that loader and step compute on at that rate
};

/// Seconds per sample of the parts, each alone.
struct PartTimes {
  double device_s = 0;
  double loader_s = 0;
  double copy_s = 0;    ///< 0: the step reads batches where they lie
  double launch_s = 0;  ///< the host queues the step; 0 where it steps itself
};

namespace detail {

/// Share of the slower rate that is left when two stages of varying speed share a buffer.
///
/// `slack` is the slower rate over the faster one, `places` the batches between and in them, and
/// `variability` the mean squared coefficient of variation of both. With exponential times this is
/// the M/M/1/K queue (Gross, Shortle, Thompson, Harris, "Fundamentals of Queueing Theory"; tf.data
/// models its buffers so); steadier stages are as many more places.
inline double buffer_share(double slack, double places, double variability) noexcept {
  if (variability < 1e-6) return 1;
  const double k = places / variability;
  if (slack > 1 - 1e-6) return k / (k + 1);
  return (1 - std::pow(slack, k)) / (1 - std::pow(slack, k + 1));
}

struct Limit {
  double samples_per_s = std::numeric_limits<double>::infinity();
  Bottleneck bottleneck = Bottleneck::device;

  void lower(double rate, Bottleneck why) noexcept {
    if (rate < samples_per_s) *this = {rate, why};
  }
};

inline PartTimes part_times(const Demands& demands, const Config& config, const StepDemand& step) {
  const auto copy = demands.copy(config);
  return {.device_s = 1 / step.rate(config.batch),
          .loader_s = 1 / demands.loader->rate(config),
          .copy_s = copy ? 1 / *copy : 0,
          .launch_s = step.launch_s / config.batch};
}

/// Seconds per sample that the caller works for a device with memory of its own, which goes on
/// meanwhile: it fills what no worker does, stages what is not pinned, and launches the step.
inline double caller_s(const PartTimes& parts, const Config& config) noexcept {
  return (config.workers == 0 ? parts.loader_s : 0) + (config.pinned ? 0 : parts.copy_s) +
         parts.launch_s;
}

/// Seconds per sample without workers: a step that reads the slot in place waits for it.
inline double serial_s(const PartTimes& parts, const Config& config) noexcept {
  if (parts.copy_s == 0) return parts.loader_s + parts.device_s;
  return std::max({parts.device_s, parts.copy_s, caller_s(parts, config)});
}

inline Limit serial_limit(const PartTimes& parts, const Config& config) noexcept {
  const double seconds = serial_s(parts, config);
  if (seconds <= parts.device_s) return {1 / parts.device_s, Bottleneck::device};
  if (seconds <= parts.copy_s) return {1 / parts.copy_s, Bottleneck::copy};
  return {1 / seconds, Bottleneck::serial};
}

/// With workers the lowest ceiling holds, less what too small a buffer costs.
inline Limit overlapped_limit(const PartTimes& parts, const Demands& demands, const Config& config,
                              const StepDemand& step) {
  const double loader = 1 / parts.loader_s;
  const double device = 1 / parts.device_s;
  const double slower = std::min(loader, device);
  // What matters is how far a stage strays beside the time of the slower one: a fast stage may vary
  // as it likes.
  const auto spread = [&](double variability, double rate) {
    return variability / config.batch * (slower / rate) * (slower / rate);
  };
  const double variability =
      (spread(demands.loader->variability, loader) + spread(step.variability, device)) / 2;
  const double slack = slower / std::max(loader, device);
  const double share = buffer_share(slack, config.prefetch + 2, variability);
  Limit limit{device * share, Bottleneck::device};
  limit.lower(loader * share, Bottleneck::loader);
  if (parts.copy_s > 0) {
    limit.lower(1 / parts.copy_s, Bottleneck::copy);
    limit.lower(1 / caller_s(parts, config), Bottleneck::serial);
  }
  const double cpu_s = demands.loader->cpu_seconds(config) + step.cpu_s;
  if (cpu_s > 0) limit.lower(demands.cores / cpu_s, Bottleneck::cores);
  return limit;
}

}  // namespace detail

/// What the demands say of `config`; empty where a part of it was not measured.
inline std::optional<Prediction> predict(const Demands& demands, const Config& config) {
  const StepDemand* step = demands.step(config);
  if (!step || !demands.loader) return std::nullopt;
  const PartTimes parts = detail::part_times(demands, config, *step);
  const detail::Limit limit = config.workers == 0
                                  ? detail::serial_limit(parts, config)
                                  : detail::overlapped_limit(parts, demands, config, *step);
  const double cpu_s = demands.loader->cpu_seconds(config) + step->cpu_s;
  return Prediction{limit.samples_per_s, 1 / parts.device_s, limit.bottleneck,
                    limit.samples_per_s * cpu_s};
}

/// Seconds that a batch of `config` takes at least, as far as its parts were measured; 0: none was.
inline double least_batch_s(const Demands& demands, const Config& config) {
  if (const auto found = predict(demands, config)) return config.batch / found->samples_per_s;
  const StepDemand* step = demands.step(config);
  return step ? config.batch / step->rate(config.batch) : 0;
}

}  // namespace feedrate::inline v0
