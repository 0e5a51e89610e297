// SPDX-License-Identifier: Apache-2.0
// Likeness: how much two configs have in common, axis by axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "feedrate/tune/model/predict.hpp"

namespace feedrate {

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

/// The likeness of each two of a list of candidates, from tables: 1 for equals, 0 for strangers.
class SimilarityKernel {
 public:
  explicit SimilarityKernel(const std::vector<Candidate>& candidates) {
    const auto add = [&](auto&& value, auto&& alike) { add_axis(candidates, value, alike); };
    add([](const Candidate& c) { return c.config.workers; }, numbers_alike);
    add([](const Candidate& c) { return c.config.prefetch; }, numbers_alike);
    add([](const Candidate& c) { return c.config.batch; }, numbers_alike);
    add([](const Candidate& c) { return c.config.step_threads; }, numbers_alike);
    add([](const Candidate& c) { return static_cast<int>(c.config.precision); }, sorts_alike);
    add([](const Candidate& c) { return static_cast<int>(c.config.pinned); }, sorts_alike);
    add_varied(candidates, [](const Candidate& c) { return static_cast<int>(c.config.graph); });
    add_varied(candidates,
               [](const Candidate& c) { return static_cast<int>(c.config.preprocess); });
    add([](const Candidate& c) { return static_cast<int>(c.bottleneck); }, sorts_alike);
    add([](const Candidate& c) { return c.room; }, numbers_alike);
    add([](const Candidate& c) { return c.crowd; }, numbers_alike);
  }

  /// Calls `visit(likeness)` for each axis of the candidates a and b.
  template <class Visit>
  void for_each_axis(std::size_t a, std::size_t b, Visit&& visit) const {
    for (const Axis& axis : axes_) visit(axis.table[axis.level[a] * axis.levels + axis.level[b]]);
  }

 private:
  struct Axis {
    std::vector<std::size_t> level;  ///< of each candidate
    std::size_t levels = 0;
    std::vector<double> table;  ///< levels x levels
  };

  /// Numbers are alike by their ratio; none at all is a thing of its own.
  static double numbers_alike(int a, int b) noexcept {
    if ((a == 0) != (b == 0)) return 0.2;
    return std::exp(-std::abs(std::log2((1.0 + a) / (1.0 + b))) / 1.5);
  }

  static double sorts_alike(int a, int b) noexcept { return a == b ? 1 : 0.7; }

  /// A sort that most spaces don't vary: there it would make all candidates more alike.
  template <class Value>
  void add_varied(const std::vector<Candidate>& candidates, Value&& value) {
    const bool varies = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) {
      return value(c) != value(candidates.front());
    });
    if (varies) add_axis(candidates, value, sorts_alike);
  }

  template <class Value, class Alike>
  void add_axis(const std::vector<Candidate>& candidates, Value&& value, Alike&& alike) {
    std::map<int, std::size_t> places;
    for (const Candidate& candidate : candidates) places.emplace(value(candidate), 0);
    std::size_t next = 0;
    for (auto& [at, place] : places) place = next++;
    Axis axis{{}, places.size(), {}};
    for (const Candidate& candidate : candidates) axis.level.push_back(places[value(candidate)]);
    for (const auto& [a, place_a] : places) {
      for (const auto& [b, place_b] : places) axis.table.push_back(alike(a, b));
    }
    axes_.push_back(std::move(axis));
  }

  std::vector<Axis> axes_;
};

}  // namespace feedrate
