// SPDX-License-Identifier: Apache-2.0
// What rounds cost beside the time that they measure.
#pragma once

#include <algorithm>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/measure/measurer.hpp"
#include "feedrate/measure/statistics.hpp"
#include "feedrate/tune/state/options.hpp"

namespace feedrate::inline v0 {

/// Seconds beside the measured ones of a round: to start workers, to fill queues, to let others
/// come to rest. A script on a GPU pays 0.1 s for each worker that it starts.
class RoundCosts {
 public:
  /// A round took so many seconds beside its own; those without a loader tell nothing.
  void add(const Request& request, double seconds) {
    if (request.part != Part::coupled && request.part != Part::loader) return;
    const Config& config = request.config;
    const bool is_first = std::none_of(known_.begin(), known_.end(),
                                       [&](const Cost& cost) { return cost.config == config; });
    if (is_first) {
      first_s_ += seconds;
      parts_ += parts_of(config);
    }
    known_.push_back({config, seconds});
  }

  /// Expected of the next round of `config`: what its last one took, else by its workers as first
  /// rounds of other configs have shown.
  double of(const Config& config) const {
    const auto last = std::find_if(known_.rbegin(), known_.rend(),
                                   [&](const Cost& cost) { return cost.config == config; });
    if (last != known_.rend()) return last->seconds;
    return parts_ > 0 ? first_s_ / parts_ * parts_of(config) : 0;
  }

  /// Seconds that a round is to measure, unless the options say: a share of the budget, and as much
  /// as rounds cost beside that, up to three times the share.
  double round_s(const TuneOptions& options) const {
    if (options.round_s > 0) return options.round_s;
    const double share = std::clamp(options.budget_s / 150, 0.05, 1.0);
    std::vector<double> seconds;
    for (const Cost& cost : known_) seconds.push_back(cost.seconds);
    return seconds.empty() ? share : std::clamp(median(seconds), share, 3 * share);
  }

 private:
  struct Cost {
    Config config;
    double seconds;
  };

  /// The caller, and each worker.
  static double parts_of(const Config& config) { return 1.0 + config.workers; }

  std::vector<Cost> known_;  ///< in their order
  double first_s_ = 0, parts_ = 0;
};

}  // namespace feedrate::inline v0
