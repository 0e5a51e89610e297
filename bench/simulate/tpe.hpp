// SPDX-License-Identifier: Apache-2.0
// A tree-structured Parzen estimator over the axes of a space: the sampler that the tuner's search
// is compared with.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "feedrate/core/space.hpp"
#include "machine/dice.hpp"

namespace feedrate::simulate {

/// Proposes configs one by one. Source: J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl, "Algorithms
/// for Hyper-Parameter Optimization", 2011. The best quarter of what was seen (at most 25, as its
/// implementations have it) makes one density per axis, the rest another; of 24 draws from the
/// first, the one with the largest ratio of the two is taken. Axes are ordinal, with a discretised
/// normal kernel and a uniform prior; precisions are categorical.
class Tpe {
 public:
  Tpe(std::vector<Config> configs, std::uint64_t seed)
      : configs_(std::move(configs)), seen_(configs_.size()), dice_(seed, 5) {
    for_each_axis([&](const auto& axis) {
      if (axis.newer) return;  // no simulated machine has it
      Levels levels;
      for (const Config& config : configs_) {
        levels.push_back(static_cast<int>(config.*axis.field));
      }
      std::sort(levels.begin(), levels.end());
      levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
      levels_.push_back(std::move(levels));
    });
    for (const Config& config : configs_) points_.push_back(point_of(config));
  }

  /// The index of the next config to try: one that was not tried yet, while there is one.
  std::size_t propose() {
    constexpr std::size_t start_up = 10;
    if (trials_.size() < start_up) return unseen();
    const auto [good, bad] = densities();
    std::size_t best = unseen();
    double best_ratio = -HUGE_VAL;
    for (int draw = 0; draw < 24; ++draw) {
      const std::size_t candidate = nearest_unseen(drawn(good));
      const double ratio =
          log_density(good, points_[candidate]) - log_density(bad, points_[candidate]);
      if (ratio > best_ratio && !seen_[candidate]) {
        best_ratio = ratio;
        best = candidate;
      }
    }
    return best;
  }

  /// The index of any config that was not tried yet: random search.
  std::size_t any() { return unseen(); }

  /// What became of the config proposed: its score, or -HUGE_VAL where it failed.
  void notify(std::size_t index, double score) {
    seen_[index] = true;
    trials_.push_back({index, score});
  }

  /// Indices tried, best score first.
  std::vector<std::size_t> ranking() const {
    std::vector<std::size_t> order;
    for (const Seen& trial : ranked()) {
      if (trial.score > -HUGE_VAL) order.push_back(trial.index);
    }
    return order;
  }

 private:
  struct Seen {
    std::size_t index;
    double score;
  };
  using Levels = std::vector<int>;
  using Point = std::vector<std::size_t>;            ///< level by axis
  using Density = std::vector<std::vector<double>>;  ///< weight by axis and level

  static constexpr std::size_t precision_axis = 4;

  Point point_of(const Config& config) const {
    Point point;
    for_each_axis([&](const auto& axis) {
      if (axis.newer) return;
      const Levels& levels = levels_[point.size()];
      const auto found =
          std::lower_bound(levels.begin(), levels.end(), static_cast<int>(config.*axis.field));
      point.push_back(static_cast<std::size_t>(found - levels.begin()));
    });
    return point;
  }

  std::vector<Seen> ranked() const {
    std::vector<Seen> trials = trials_;
    std::stable_sort(trials.begin(), trials.end(),
                     [](const Seen& a, const Seen& b) { return a.score > b.score; });
    return trials;
  }

  std::array<Density, 2> densities() const {
    const std::vector<Seen> trials = ranked();
    const auto quarter = (trials.size() + 3) / 4;
    const auto good = static_cast<std::ptrdiff_t>(std::min<std::size_t>(quarter, 25));
    return {density({trials.begin(), trials.begin() + good}),
            density({trials.begin() + good, trials.end()})};
  }

  Density density(const std::vector<Seen>& trials) const {
    Density density;
    for (std::size_t axis = 0; axis < levels_.size(); ++axis) {
      const std::size_t count = levels_[axis].size();
      std::vector<double> weights(count, 1.0 / static_cast<double>(count));
      for (const Seen& trial : trials) add_kernel(weights, points_[trial.index][axis], axis);
      double sum = 0;
      for (const double weight : weights) sum += weight;
      for (double& weight : weights) weight /= sum;
      density.push_back(std::move(weights));
    }
    return density;
  }

  /// A normal of one level's width for ordinal axes, the level alone for the others.
  static void add_kernel(std::vector<double>& weights, std::size_t center, std::size_t axis) {
    if (axis == precision_axis) {
      weights[center] += 1;
      return;
    }
    const double width = std::max(0.5, static_cast<double>(weights.size()) / 10);
    std::vector<double> kernel(weights.size());
    double sum = 0;
    for (std::size_t level = 0; level < kernel.size(); ++level) {
      const double away = (static_cast<double>(level) - static_cast<double>(center)) / width;
      sum += kernel[level] = std::exp(-away * away / 2);
    }
    for (std::size_t level = 0; level < kernel.size(); ++level)
      weights[level] += kernel[level] / sum;
  }

  Point drawn(const Density& density) {
    Point point;
    for (const auto& weights : density) {
      double left = dice_.uniform();
      std::size_t level = 0;
      while (level + 1 < weights.size() && (left -= weights[level]) > 0) ++level;
      point.push_back(level);
    }
    return point;
  }

  static double log_density(const Density& density, const Point& point) {
    double sum = 0;
    for (std::size_t axis = 0; axis < point.size(); ++axis)
      sum += std::log(density[axis][point[axis]]);
    return sum;
  }

  /// The untried config with the fewest differences in levels; any, where all were tried.
  std::size_t nearest_unseen(const Point& point) const {
    std::size_t best = 0;
    double best_away = HUGE_VAL;
    for (std::size_t c = 0; c < configs_.size(); ++c) {
      if (seen_[c]) continue;
      double away = 0;
      for (std::size_t axis = 0; axis < point.size() && away < best_away; ++axis) {
        away += std::abs(static_cast<double>(point[axis]) - static_cast<double>(points_[c][axis]));
      }
      if (away < best_away) {
        best_away = away;
        best = c;
      }
    }
    return best;
  }

  std::size_t unseen() {
    const auto tried = static_cast<std::size_t>(std::count(seen_.begin(), seen_.end(), true));
    if (tried == configs_.size()) return 0;
    auto nth = dice_.below(static_cast<int>(configs_.size() - tried));
    std::size_t index = 0;
    while (seen_[index] || nth-- > 0) ++index;
    return index;
  }

  std::vector<Config> configs_;
  std::vector<Levels> levels_;
  std::vector<Point> points_;
  std::vector<bool> seen_;
  std::vector<Seen> trials_;
  Dice dice_;
};

}  // namespace feedrate::simulate
