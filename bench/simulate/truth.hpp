// SPDX-License-Identifier: Apache-2.0
// The truth about a simulated machine: the rate of every config, the best, and who ties with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "machine/draw.hpp"
#include "machine/simulated_machine.hpp"

namespace feedrate::simulate {

/// Knows what the tuner has to find out.
class Truth {
 public:
  Truth(const Problem& problem, Flows& flows) : problem_(problem), flows_(flows) {
    for (const Config& config : configs_of(problem.space)) add(config);
    size_ = ordered_.size();
    add(problem.reference);
    std::stable_sort(ordered_.begin(), ordered_.end(),
                     [](const Bounded& a, const Bounded& b) { return a.first > b.first; });
  }

  std::size_t space_size() const noexcept { return size_; }

  /// samples/s; 0 for a config that does not run.
  double rate(const Config& config, bool throttled = false) {
    if (!is_feasible(problem_.machine, config)) return 0;
    return flows_.of(config, Part::coupled, throttled).samples_per_s;
  }

  /// The fastest config of a tier.
  struct Best {
    Config config;
    double samples_per_s = 0;
  };

  /// The bounds say where looking on is of no use.
  Best best(Tier tier, bool throttled = false) {
    Best best;
    for (const auto& [bound, config] : ordered_) {
      if (bound < best.samples_per_s) break;
      if (!within_tier(problem_.reference, config, tier)) continue;
      const double here = rate(config, throttled);
      if (here > best.samples_per_s) best = {config, here};
    }
    return best;
  }

  /// Those of the space that lie within a share of the best.
  std::vector<Config> within(double share) {
    const double least = (1 - share) * best(Tier::training).samples_per_s;
    std::vector<Config> near;
    for (const auto& [bound, config] : ordered_) {
      if (bound < least) break;
      if (rate(config) >= least) near.push_back(config);
    }
    return near;
  }

  /// Share of the space that lies within 2 % of the best.
  double tied_share() {
    return static_cast<double>(within(0.02).size()) / static_cast<double>(ordered_.size());
  }

 private:
  using Bounded = std::pair<double, Config>;
  void add(const Config& config) { ordered_.emplace_back(flows_.bound_of(config), config); }

  const Problem& problem_;
  Flows& flows_;
  std::vector<Bounded> ordered_;  ///< highest bound first
  std::size_t size_ = 0;
};

}  // namespace feedrate::simulate
