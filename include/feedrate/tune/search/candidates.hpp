// SPDX-License-Identifier: Apache-2.0
// The candidates: the trials of a sweep that may be measured, with their predictions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "feedrate/tune/model/similarity_kernel.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// Trials that may be measured: `list[i]` is `trials[i]` of the sweep.
struct Candidates {
  std::vector<std::size_t> trials;
  std::vector<Candidate> list;
};

/// The logarithm of what the objective makes of a prediction.
inline double log_score_of(const Sweep& sweep, const Config& config, const Prediction& prediction) {
  const Objective& objective = objective_named(sweep.options().objective);
  return objective.of_prediction(prediction, log_peak(sweep.options(), config));
}

namespace detail {

/// A round takes a first batch and the least of a round.
inline bool round_takes_too_long(const Sweep& sweep, std::size_t trial) {
  const Config& config = sweep.trial(trial).config;
  const auto prediction = predict(sweep.outcome().demands, config);
  const int batches = 1 + sweep.round_options_of(config).min_batches;
  return prediction && config.batch * batches / prediction->samples_per_s > sweep.longest_round_s();
}

/// Seconds that a round of `config` is expected to take, with a batch before and one behind it.
inline double round_cost_s(const Sweep& sweep, const Config& config) {
  const RoundOptions options = sweep.round_options_of(config);
  const auto prediction = predict(sweep.outcome().demands, config);
  if (!prediction) return options.seconds;
  const double batch_s = config.batch / prediction->samples_per_s;
  return 2 * batch_s + std::max(options.min_batches * batch_s, options.seconds);
}

/// What takes too long is predicted alone.
inline bool takes_too_long(Sweep& sweep, std::size_t trial, const Prediction& prediction) {
  if (trial == sweep.outcome().reference || !round_takes_too_long(sweep, trial)) return false;
  sweep.trial(trial).predicted_samples_per_s = prediction.samples_per_s;
  sweep.trial(trial).status = TrialStatus::predicted;
  sweep.trial(trial).reason = {Why::round_too_long};
  return true;
}

}  // namespace detail

/// Those of a sweep, by what it knows so far. What is left out says why.
inline Candidates candidates_of(Sweep& sweep) {
  Candidates candidates;
  for (std::size_t t = 0; t < sweep.outcome().trials.size(); ++t) {
    if (!sweep.is_open(t)) continue;
    const Config& config = sweep.trial(t).config;
    const auto prediction = predict(sweep.outcome().demands, config);
    if (!prediction || detail::takes_too_long(sweep, t, *prediction)) continue;
    candidates.list.push_back(Candidate::of(
        config, *prediction, log_score_of(sweep, config, *prediction), sweep.options().cores));
    candidates.trials.push_back(t);
  }
  return candidates;
}

}  // namespace feedrate::inline v0
