// SPDX-License-Identifier: Apache-2.0
// An objective: what a sweep maximises. Each is one file, and one line of objectives.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "feedrate/measure/round.hpp"
#include "feedrate/tune/model/predict.hpp"

namespace feedrate::inline v0 {

/// What an objective is made of, beside the rate.
enum class Needs : std::uint8_t {
  rate,       ///< nothing else
  step_time,  ///< the time in which the device runs steps
  peak,       ///< the FLOP/s of the machine
  energy,     ///< a meter of joules
};

/// All scores are logarithms. `log_peak` is that of the machine's FLOP/s in the config's precision,
/// 0 where it is unknown.
struct Objective {
  std::string_view name;
  Needs needs = Needs::rate;
  double (*of_round)(const Round&, double log_peak);
  double (*of_prediction)(const Prediction&, double log_peak);
  /// Throws Error(trials) on a round that has no score.
  void (*require_score)(const Round&) = [](const Round&) {};
  bool is_predicted = true;  ///< false: up to a factor, which the first round tells
};

/// The logarithm of a rate: the objective itself, or what others build on.
inline double log_rate(const Round& round, double = 0) {
  return std::log(round.samples_per_s());
}
inline double predicted_log_rate(const Prediction& prediction, double = 0) {
  return std::log(prediction.samples_per_s);
}

}  // namespace feedrate::inline v0
