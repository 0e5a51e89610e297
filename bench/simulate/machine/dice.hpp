// SPDX-License-Identifier: Apache-2.0
// Dice: the random draws of a machine, the same on every platform for one seed.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <vector>

#include "feedrate/core/random.hpp"

namespace feedrate::simulate {

/// Draws from a few distributions; (seed, stream) alone says what comes.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t stream) noexcept : random_(seed, stream, 0) {}

  /// Uniform in (0, 1), 53 bits of resolution.
  double uniform() noexcept {
    const std::uint64_t high = random_.next() >> 5, low = random_.next() >> 6;
    return (static_cast<double>(high * 67108864 + low) + 0.5) / 9007199254740992.0;
  }
  double between(double low, double high) noexcept { return low + (high - low) * uniform(); }
  /// Uniform in the logarithm.
  double scale(double low, double high) noexcept { return low * std::pow(high / low, uniform()); }
  bool chance(double probability) noexcept { return uniform() < probability; }
  int below(int n) noexcept {
    return static_cast<int>(random_.below(static_cast<std::uint32_t>(n)));
  }
  /// Uniform in {low, ..., high}.
  int integer(int low, int high) noexcept { return low + below(high - low + 1); }

  template <class T>
  T pick(std::initializer_list<T> values) noexcept {
    return values.begin()[below(static_cast<int>(values.size()))];
  }

  /// Standard normal. Source: Box and Muller, 1958.
  double normal() noexcept {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  /// Gamma with this shape >= 1 and mean 1. Source: Marsaglia and Tsang, "A simple method for
  /// generating gamma variables", ACM TOMS 26, 2000.
  double gamma(double shape) noexcept {
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), v = std::pow(1 + c * x, 3);
      if (v > 0 && std::log(uniform()) < x * x / 2 + d - d * v + d * std::log(v)) {
        return d * v / shape;
      }
    }
  }

 private:
  Random random_;
};

}  // namespace feedrate::simulate
