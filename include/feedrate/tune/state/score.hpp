// SPDX-License-Identifier: Apache-2.0
// The score of a round: its value by the objective.
#pragma once

#include <cmath>

#include "feedrate/measure/round.hpp"
#include "feedrate/tune/objective/objectives.hpp"
#include "feedrate/tune/state/options.hpp"
#include "feedrate/tune/state/pair.hpp"

namespace feedrate::inline v0 {

/// Logarithm of the FLOP/s of the machine in the config's precision; 0 where unknown.
inline double log_peak(const TuneOptions& options, const Config& config) {
  const auto peak = options.peak_flops_per_s.find(config.precision);
  return peak == options.peak_flops_per_s.end() ? 0 : std::log(peak->second);
}

/// The logarithms of objective and rate.
inline Score score_of(const Round& round, const Config& config, const TuneOptions& options) {
  const Objective& objective = objective_named(options.objective);
  return {objective.of_round(round, log_peak(options, config)), log_rate(round), round.block,
          round.others_share};
}

}  // namespace feedrate::inline v0
