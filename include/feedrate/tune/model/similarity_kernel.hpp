// SPDX-License-Identifier: Apache-2.0
// How similar two configs are, axis by axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "feedrate/core/axes.hpp"
#include "feedrate/tune/model/predict.hpp"

namespace feedrate::inline v0 {

/// A config that may be measured: the logarithm of its predicted score, and what holds it back.
struct Candidate {
  Config config;
  double log_predicted = 0;
  Bottleneck bottleneck = Bottleneck::device;
  int room = 0;     ///< samples in the ring for each worker
  int crowd = 0;    ///< threads of workers and step, in eighths of the cores
  double busy = 0;  ///< share of the cores on which loader and step are expected to compute

  static Candidate of(const Config& config, const Prediction& prediction, double log_predicted,
                      double cores) {
    const int threads = config.workers + config.step_threads;
    const int ring = config.batch * (config.prefetch + 1);
    return {config,
            log_predicted,
            prediction.bottleneck,
            ring / std::max(config.workers, 1),
            static_cast<int>(std::ceil(threads * 8 / cores)),
            prediction.busy_cores / cores};
  }
};

/// The similarity of each two of a list of candidates, from tables: 1 for equals, less for others.
class SimilarityKernel {
 public:
  explicit SimilarityKernel(const std::vector<Candidate>& candidates) {
    for_each_axis_by_cost([&](const auto& axis) { add_axis(candidates, axis); });
    add(
        candidates, [](const Candidate& c) { return static_cast<int>(c.bottleneck); }, categories);
    add(
        candidates, [](const Candidate& c) { return c.room; }, numbers);
    add(
        candidates, [](const Candidate& c) { return c.crowd; }, numbers);
  }

  /// Calls `visit(similarity)` for each property of the candidates a and b.
  template <class Visit>
  void for_each_property(std::size_t a, std::size_t b, Visit&& visit) const {
    for (const Property& property : properties_) {
      visit(property.table[property.level[a] * property.levels + property.level[b]]);
    }
  }

 private:
  struct Property {
    std::vector<std::size_t> level;  ///< of each candidate
    std::size_t levels = 0;
    std::vector<double> table;  ///< levels x levels
  };

  /// Numbers are similar by their ratio; none at all is a thing of its own.
  static double numbers(int a, int b) noexcept {
    if ((a == 0) != (b == 0)) return 0.2;
    return std::exp(-std::abs(std::log2((1.0 + a) / (1.0 + b))) / 1.5);
  }

  static double categories(int a, int b) noexcept { return a == b ? 1 : 0.7; }

  /// An axis that most spaces don't vary would make all candidates there more similar.
  template <class T>
  void add_axis(const std::vector<Candidate>& candidates, const Axis<T>& axis) {
    const auto value = [&](const Candidate& c) { return static_cast<int>(c.config.*axis.field); };
    const bool varies = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) {
      return value(c) != value(candidates.front());
    });
    if (axis.newer && !varies) return;
    add(candidates, value, std::is_same_v<T, int> ? numbers : categories);
  }

  template <class Value>
  void add(const std::vector<Candidate>& candidates, Value&& value,
           double (*similarity)(int, int) noexcept) {
    std::map<int, std::size_t> places;
    for (const Candidate& candidate : candidates) places.emplace(value(candidate), 0);
    std::size_t next = 0;
    for (auto& [at, place] : places) place = next++;
    Property property{{}, places.size(), {}};
    for (const Candidate& candidate : candidates) {
      property.level.push_back(places[value(candidate)]);
    }
    for (const auto& [a, place_a] : places) {
      for (const auto& [b, place_b] : places) property.table.push_back(similarity(a, b));
    }
    properties_.push_back(std::move(property));
  }

  std::vector<Property> properties_;
};

}  // namespace feedrate::inline v0
