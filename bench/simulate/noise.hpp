// SPDX-License-Identifier: Apache-2.0
// Noise: what a clock on a busy machine adds to the truth, round by round and over time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "dice.hpp"

namespace feedrate::simulate {

/// How noisy machines are.
struct NoiseOptions {
  double round_sd = 0.03;       ///< of the logarithm of one round's rate
  double nominal_s = 0.1;       ///< rounds shorter than this are noisier, by the square root
  double outlier_share = 0.02;  ///< of rounds,
  double outlier_loss = 0.1;    ///< which are so much slower
  double drift_sd = 0.02;       ///< of the slow wander of everything
  double drift_s = 15;          ///< correlation time of the wander
  bool throttling = true;       ///< some devices slow down for good after a while
};

/// One machine's noise: a stream of factors near 1.
class Noise {
 public:
  Noise(const NoiseOptions& options, std::uint64_t seed) : options_(options), dice_(seed, 3) {
    wander_ = options.drift_sd * dice_.normal();
  }

  /// What the rate of a round that begins at `time_s` and lasts `duration_s` is multiplied by.
  double factor(double time_s, double duration_s) {
    const double shortness = std::sqrt(std::max(1.0, options_.nominal_s / duration_s));
    const double noise = options_.round_sd * shortness * dice_.normal();
    const double outlier = dice_.chance(options_.outlier_share) ? 1 - options_.outlier_loss : 1;
    return outlier * std::exp(noise + wander(time_s));
  }

 private:
  /// Source: the exact step of an Ornstein-Uhlenbeck process.
  double wander(double time_s) {
    const double kept = std::exp(-std::max(0.0, time_s - last_s_) / options_.drift_s);
    wander_ = kept * wander_ + options_.drift_sd * std::sqrt(1 - kept * kept) * dice_.normal();
    last_s_ = time_s;
    return wander_;
  }

  NoiseOptions options_;
  Dice dice_;
  double wander_ = 0;
  double last_s_ = 0;
};

}  // namespace feedrate::simulate
