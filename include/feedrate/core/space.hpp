// SPDX-License-Identifier: Apache-2.0
// The space: the values of each axis, and the configs that they span.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/core/error.hpp"

namespace feedrate {

/// The values that a sweep tries, axis by axis, named as the fields of Config.
struct Space {
  std::vector<int> workers = {0};
  std::vector<int> prefetch = {2};
  std::vector<bool> pinned = {false};
  std::vector<int> step_threads = {1};
  std::vector<bool> graph = {false};
  std::vector<Preprocess> preprocess = {Preprocess::device};
  std::vector<Precision> precision = {Precision::fp32};
  std::vector<int> batch = {32};
  int effective_batch = 0;        ///< batch x accumulate is held at this; 0: nothing accumulates
  bool workers_may_grow = false;  ///< go on past the largest number while it still gains
};

/// A value that was asked for but means nothing on this device.
struct NotApplicable {
  std::string axis;
  std::string value;
  std::string why;
};

/// A config without differences that make none: with no workers nothing is prefetched.
inline Config canonical(Config config) noexcept {
  if (config.workers == 0) config.prefetch = 0;
  if (config.workers > 0) config.prefetch = std::max(config.prefetch, 1);
  return config;
}

namespace detail {

/// Calls visit(axis, values) for each axis.
template <class Visit>
void for_each_values(const Space& space, Visit&& visit) {
  visit(&Config::workers, space.workers);
  visit(&Config::prefetch, space.prefetch);
  visit(&Config::pinned, space.pinned);
  visit(&Config::step_threads, space.step_threads);
  visit(&Config::graph, space.graph);
  visit(&Config::preprocess, space.preprocess);
  visit(&Config::precision, space.precision);
  visit(&Config::batch, space.batch);
}

}  // namespace detail

/// All configs of a space, each once, in the order of the axes.
inline std::vector<Config> configs_of(const Space& space) {
  std::vector<Config> configs = {Config{}};
  detail::for_each_values(space, [&](auto field, const auto& values) {
    std::vector<Config> next;
    for (const Config& config : configs) {
      for (const auto value : values) {
        next.push_back(config);
        next.back().*field = value;
      }
    }
    configs = std::move(next);
  });
  std::vector<Config> unique;
  for (const Config& config : configs) {
    Config same = canonical(config);
    if (space.effective_batch > 0) same.accumulate = space.effective_batch / same.batch;
    if (std::find(unique.begin(), unique.end(), same) == unique.end()) unique.push_back(same);
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

/// Order of cost among configs that are equally fast: fewest workers, least memory, smallest
/// batch, fewest step threads, widest precision, plain memory, no recorded step, bytes that travel.
inline bool cheaper(const Config& a, const Config& b) noexcept {
  const auto key = [](const Config& c) {
    return std::tuple(c.workers, static_cast<long>(c.batch) * (c.prefetch + 1), c.batch,
                      c.step_threads, static_cast<int>(c.precision), c.pinned, c.graph,
                      c.preprocess);
  };
  return key(a) < key(b);
}

}  // namespace feedrate
