// SPDX-License-Identifier: Apache-2.0
// Noise: the difference between a measurement on a busy machine and the truth, per round and over
// time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

#include "dice.hpp"
#include "feedrate/core/config.hpp"

namespace feedrate::simulate {

/// How noisy machines are.
struct NoiseOptions {
  double spread = 1.6;          ///< the noise of a machine is up to so many times more, or less
  double round_sd = 0.03;       ///< of the logarithm of the rate of one round,
  double tail_freedom = 4;      ///< of Student's t, from which it is drawn: tails are heavy
  double nominal_s = 0.1;       ///< where it is so long: it falls with the root of the length
  double outlier_share = 0.02;  ///< of rounds,
  double outlier_loss = 0.1;    ///< which are so much slower
  double drift_sd = 0.02;       ///< of the slow wander of everything,
  double drift_s = 15;          ///< and its correlation time
  double workers_sd = 0.01;     ///< of a wander that each number of workers has of its own,
  double config_sd = 0.005;     ///< and each config
  double wander_s = 60;         ///< correlation time of these two: pairs don't cancel them
  double first_loss = 0.03;     ///< mean loss of a config's first round
  double calm_s = 60;           ///< mean time between two bursts of other processes,
  double burst_s = 4;           ///< and mean length of one,
  double burst_low = 0.2, burst_high = 0.5;  ///< which takes so much of the cores
  bool throttling = true;                    ///< some devices slow down for good after a while

  /// Each round tells the truth: how good an answer can be, as far as noise goes.
  static NoiseOptions none() {
    NoiseOptions noise;
    noise.round_sd = noise.outlier_share = noise.drift_sd = 0;
    noise.workers_sd = noise.config_sd = noise.first_loss = 0;
    noise.calm_s = 1e12;
    return noise;
  }
  /// A rented machine on an ordinary day.
  static NoiseOptions usual() { return {}; }
  /// One that is shared with neighbours who come and go.
  static NoiseOptions hostile() {
    NoiseOptions noise;
    noise.round_sd = 0.05;
    noise.outlier_share = 0.05;
    noise.outlier_loss = 0.2;
    noise.drift_sd = 0.04;
    noise.workers_sd = 0.02;
    noise.config_sd = 0.01;
    noise.first_loss = 0.08;
    noise.calm_s = 12;
    noise.burst_s = 6;
    noise.burst_high = 0.6;
    return noise;
  }
  /// By its name: none, usual or hostile.
  static NoiseOptions of(std::string_view name) {
    return name == "none" ? none() : name == "hostile" ? hostile() : usual();
  }
};

/// A value that wanders about 0. Source: the exact step of an Ornstein-Uhlenbeck process.
class Wander {
 public:
  double at(double time_s, double sd, double memory_s, Dice& dice) {
    const double kept = is_new_ ? 0 : std::exp(-std::max(0.0, time_s - last_s_) / memory_s);
    value_ = kept * value_ + sd * std::sqrt(1 - kept * kept) * dice.normal();
    last_s_ = std::max(last_s_, time_s);
    is_new_ = false;
    return value_;
  }

 private:
  double value_ = 0, last_s_ = 0;
  bool is_new_ = true;
};

/// Other processes that come and go: the share of the cores that they take.
class Neighbours {
 public:
  /// Mean share between two times; calls go forward in time.
  double share(double from_s, double to_s, const NoiseOptions& options, Dice& dice) {
    if (next_s_ < 0) next_s_ = exponential(options.calm_s, dice);
    double taken_s = 0;
    while (next_s_ < to_s) {
      if (end_s_ < next_s_) {
        end_s_ = next_s_ + exponential(options.burst_s, dice);
        share_ = dice.between(options.burst_low, options.burst_high);
      }
      taken_s += share_ * std::max(0.0, std::min(to_s, end_s_) - std::max(from_s, next_s_));
      if (end_s_ > to_s) break;
      next_s_ = end_s_ + exponential(options.calm_s, dice);
    }
    return to_s > from_s ? taken_s / (to_s - from_s) : 0;
  }

 private:
  static double exponential(double mean, Dice& dice) { return -mean * std::log(dice.uniform()); }
  double next_s_ = -1, end_s_ = -1, share_ = 0;
};

/// What noise makes of one round.
struct Disturbance {
  double factor = 1;         ///< of the rate
  double others_share = -1;  ///< of the cores that other processes took
};

/// One machine's noise: a stream of factors near 1.
class Noise {
 public:
  /// Of a machine with so many cores.
  Noise(const NoiseOptions& options, std::uint64_t seed, int cores)
      : options_(options),
        cores_(cores),
        dice_(seed, 3),
        level_(dice_.scale(1 / options.spread, options.spread)) {}

  /// What becomes of a round of `config` that begins at `time_s`, lasts `duration_s`, and computes
  /// on the share `busy` of the cores.
  Disturbance of(const Config& config, double time_s, double duration_s, double busy) {
    const double shortness = std::sqrt(options_.nominal_s / duration_s);
    double log = options_.round_sd * shortness * student();
    log += drift_.at(time_s, options_.drift_sd, options_.drift_s, dice_);
    log += workers_[config.workers].at(time_s, options_.workers_sd, options_.wander_s, dice_);
    Own& own = own_[key(config)];
    log += own.wander.at(time_s, options_.config_sd, options_.wander_s, dice_);
    if (own.is_first) log += options_.first_loss * std::log(dice_.uniform());
    own.is_first = false;
    log *= level_;
    if (dice_.chance(options_.outlier_share)) log += std::log1p(-options_.outlier_loss);
    const double others = neighbours_.share(time_s, time_s + duration_s, options_, dice_);
    return {std::exp(log) * left_beside(others, busy), seen(others, duration_s)};
  }

 private:
  struct Own {
    Wander wander;
    bool is_first = true;
  };
  using Key = std::tuple<int, int, bool, int, int, int>;
  static Key key(const Config& c) noexcept {
    return {c.workers, c.prefetch, c.pinned, c.step_threads, static_cast<int>(c.precision),
            c.batch};
  }

  /// Student's t with unit variance.
  double student() {
    const double freedom = options_.tail_freedom;
    const double chi = 2 * dice_.gamma(freedom / 2) * freedom / 2;
    return dice_.normal() / std::sqrt(chi / freedom) * std::sqrt((freedom - 2) / freedom);
  }

  /// The factor of a rate beside others. Threads that find an idle core lose little.
  static double left_beside(double others, double busy) noexcept {
    return std::min(1.0, (1 - others) / std::max(busy, 1e-3)) * (1 - 0.1 * others);
  }

  /// As the product sees it: the kernel counts ticks of 10 ms on each core, and fewer than twenty
  /// tell nothing.
  double seen(double others, double duration_s) {
    if (cores_ * duration_s < 0.2) return -1;
    const double tick = 0.01 / (duration_s * std::sqrt(cores_));
    return std::clamp(others + tick * (dice_.uniform() - 0.5), 0.0, 1.0);
  }

  NoiseOptions options_;
  int cores_;
  Dice dice_;
  double level_;
  Wander drift_;
  std::map<int, Wander> workers_;
  std::map<Key, Own> own_;
  Neighbours neighbours_;
};

}  // namespace feedrate::simulate
