// SPDX-License-Identifier: Apache-2.0
// Service times: the distribution of the cost of one sample.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dice.hpp"

namespace feedrate::simulate {

/// The shape of the scatter.
enum class Scatter : std::uint8_t { constant, lognormal, gamma, bimodal };

/// A cyclic table of relative service times. Every config of a machine meets the same samples in
/// the same order: common random numbers, so that their rates differ by what the configs do.
class ServiceTimes {
 public:
  ServiceTimes() : ServiceTimes(Scatter::constant, 0, 0) {}

  /// `spread` is the standard deviation of the logarithm (lognormal), of the value (gamma), or the
  /// length of the rare slow samples, of which there are 2 % (bimodal).
  ServiceTimes(Scatter scatter, double spread, std::uint64_t seed) : sums_(size + 1) {
    Dice dice(seed, 77);
    for (std::size_t i = 0; i < size; ++i) sums_[i + 1] = sums_[i] + draw(dice, scatter, spread);
  }

  /// Sum of the relative times of samples [first, first + count).
  double sum(std::uint64_t first, std::uint64_t count) const noexcept {
    return upto(first + count) - upto(first);
  }

  /// The same of samples [0, count).
  double upto(std::uint64_t count) const noexcept {
    return static_cast<double>(count / size) * sums_[size] + sums_[count % size];
  }

 private:
  static constexpr std::size_t size = 4096;

  static double draw(Dice& dice, Scatter scatter, double spread) {
    switch (scatter) {
      case Scatter::lognormal:
        return std::exp(spread * dice.normal());
      case Scatter::gamma:
        return dice.gamma(1 / (spread * spread));
      case Scatter::bimodal:
        return dice.chance(0.02) ? spread : 1;
      case Scatter::constant:
        break;
    }
    return 1;
  }

  std::vector<double> sums_;  ///< of the first 0, 1, 2, ... samples
};

}  // namespace feedrate::simulate
