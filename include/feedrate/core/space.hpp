// SPDX-License-Identifier: Apache-2.0
// The configs that a space spans, and how two of them differ: in tier, in cost, in one step.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "feedrate/core/axes.hpp"
#include "feedrate/core/error.hpp"

namespace feedrate::inline v0 {

/// A value that was asked for but means nothing on this device.
struct NotApplicable {
  std::string axis;
  std::string value;
  std::string why;
};

/// A config without differences that make none: with no workers nothing is prefetched, and nobody
/// starts or stays.
inline Config canonical(Config config) noexcept {
  if (config.workers == 0) config.prefetch = 0;
  if (config.workers == 0) config.persistent = false;
  if (config.workers == 0) config.start_method = StartMethod::own;
  if (config.workers > 0) config.prefetch = std::max(config.prefetch, 1);
  return config;
}

/// The config with a prefetch that loads no more ahead than the space allows; nothing where even
/// one batch for each worker is more.
inline std::optional<Config> loading_within(const Space& space, Config config) noexcept {
  if (space.most_ahead == 0 || config.workers == 0) return config;
  if (config.workers > space.most_ahead) return std::nullopt;
  const int whole = (space.most_ahead + config.workers - 1) / config.workers;
  config.prefetch = std::min(config.prefetch, whole);
  return config;
}

/// All configs of a space, each once, in the order of the axes.
inline std::vector<Config> configs_of(const Space& space) {
  std::vector<Config> configs = {Config{}};
  for_each_axis_of(space, [&](const auto& axis, const auto& values) {
    std::vector<Config> next;
    for (const Config& config : configs) {
      for (const auto value : values) {
        next.push_back(config);
        next.back().*axis.field = value;
      }
    }
    configs = std::move(next);
  });
  std::vector<Config> unique;
  for (const Config& config : configs) {
    auto same = loading_within(space, canonical(config));
    if (!same) continue;
    if (space.effective_batch > 0) same->accumulate = space.effective_batch / same->batch;
    if (std::find(unique.begin(), unique.end(), *same) == unique.end()) unique.push_back(*same);
  }
  return unique;
}

/// Whether going from `from` to `to` changes nothing beyond `tier`. A batch that accumulation makes
/// up for changes rounding alone: the same samples make each update, summed in another order.
inline bool within_tier(const Config& from, const Config& to, Tier tier) noexcept {
  const bool same_update = from.batch * from.accumulate == to.batch * to.accumulate;
  bool within = true;
  for_each_axis([&](const auto& axis) {
    if (from.*axis.field == to.*axis.field) return;
    const bool rounds = axis.tier == Tier::training && same_update;
    if ((rounds ? Tier::numerics : axis.tier) > tier) within = false;
  });
  return within;
}

/// Whether two configs differ in one axis, and there by no more than a factor of two. Batch and
/// accumulation are one axis where they make the same update.
inline bool are_neighbours(const Config& a, Config b) noexcept {
  if (a.batch * a.accumulate == b.batch * b.accumulate) b.accumulate = a.accumulate;
  int axes = 0;
  bool near = true;
  for_each_axis([&](const auto& axis) {
    const auto x = a.*axis.field, y = b.*axis.field;
    if (x == y) return;
    ++axes;
    if constexpr (std::is_same_v<decltype(x), const int>) {
      near = near && std::max(x, y) <= 2 * std::min(x, y);
    }
  });
  return axes == 1 && near;
}

/// Which of two equally fast configs is the cheaper: fewest workers, least memory, smallest batch,
/// and on in the order of the axes' costs. `now` holds the values of today.
inline bool cheaper(const Config& a, const Config& b, const Config& now) noexcept {
  long difference = 0;
  for_each_axis_by_cost([&](const auto& axis) {
    const auto cost = [&](const Config& config) {
      if (axis.kept && config.*axis.field == now.*axis.field) return -1L;
      return axis.cost_of ? axis.cost_of(config) : static_cast<long>(config.*axis.field);
    };
    if (difference == 0) difference = cost(a) - cost(b);
  });
  return difference < 0;
}

}  // namespace feedrate::inline v0
