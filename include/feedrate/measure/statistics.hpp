// SPDX-License-Identifier: Apache-2.0
// Statistics: pure functions of samples. Intervals are two-sided.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

namespace feedrate::inline v0 {

/// An estimate and where the true value lies with the stated confidence.
struct Interval {
  double estimate = 0;  ///< the likeliest value
  double low = 0;       ///< the lower bound
  double high = 0;      ///< the upper bound

  /// Half of the width, relative to the estimate.
  double relative_error() const noexcept { return (high - low) / 2 / std::abs(estimate); }
};

/// Arithmetic mean of at least one value.
inline double mean(std::span<const double> values) noexcept {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Unbiased sample standard deviation of at least two values.
inline double standard_deviation(std::span<const double> values) noexcept {
  const double center = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// The middle value, or the mean of the middle two, of at least one value.
inline double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// Mean of what a normal variable exceeds zero by, counting nothing where it does not.
/// Source: D. R. Jones, M. Schonlau, W. J. Welch, "Efficient Global Optimization of Expensive
/// Black-Box Functions", 1998, equation 15.
inline double expected_excess(double mean, double deviation) noexcept {
  if (deviation <= 0) return std::max(0.0, mean);
  const double u = mean / deviation;
  const double density = std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
  return deviation * (u * std::erfc(-u / std::numbers::sqrt2) / 2 + density);
}

/// The value that a standard normal exceeds with probability `upper`, 0 < upper < 1.
/// Source: bisection of erfc; exact to about 1e-12.
inline double normal_quantile(double upper) noexcept {
  double low = -40;
  double high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    const double tail = std::erfc(middle / std::numbers::sqrt2) / 2;
    (tail > upper ? low : high) = middle;
  }
  return low;
}

/// The value that Student's t with `freedom` degrees exceeds in absolute value with probability
/// `both`. Source: G. W. Hill, "Algorithm 396: Student's t-quantiles", CACM 13 (1970); exact for
/// one and two degrees, better than 1e-3 relative from three on.
inline double student_quantile(double freedom, double both) noexcept {
  using std::numbers::pi;
  if (freedom == 1) return std::cos(both * pi / 2) / std::sin(both * pi / 2);
  if (freedom == 2) return std::sqrt(2 / (both * (2 - both)) - 2);
  const double a = 1 / (freedom - 0.5);
  const double b = 48 / (a * a);
  double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
  const double d = ((94.5 / (b + c) - 3) / b + 1) * std::sqrt(a * pi / 2) * freedom;
  double y = std::pow(d * both, 2 / freedom);
  if (y > 0.05 + a) {
    const double x = -normal_quantile(both / 2);
    y = x * x;
    if (freedom < 5) c += 0.3 * (freedom - 4.5) * (x + 0.6);
    c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c;
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
    y = a * y * y;
    y = y > 0.002 ? std::expm1(y) : 0.5 * y * y + y;
  } else {
    y = ((1 / (((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3) +
          0.5 / (freedom + 4)) *
             y -
         1) *
            (freedom + 1) / (freedom + 2) +
        1 / y;
  }
  return std::sqrt(freedom * y);
}

/// Mean with its interval by Student's t; `alpha` is the probability of lying outside. With one
/// value the interval is unbounded.
inline Interval mean_interval(std::span<const double> values, double alpha) noexcept {
  const double center = mean(values);
  if (values.size() < 2) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return {center, -infinity, infinity};
  }
  const auto n = static_cast<double>(values.size());
  const double half = student_quantile(n - 1, alpha) * standard_deviation(values) / std::sqrt(n);
  return {center, center - half, center + half};
}

/// Mean of `a` less that of `b`, at least two values each, with its interval; they may scatter
/// differently. Source: B. L. Welch, "The Generalization of 'Student's' Problem when Several
/// Different Population Variances are Involved", Biometrika 34 (1947).
inline Interval mean_difference(std::span<const double> a, std::span<const double> b,
                                double alpha) noexcept {
  const auto variance_of_mean = [](std::span<const double> values) {
    const double deviation = standard_deviation(values);
    return deviation * deviation / static_cast<double>(values.size());
  };
  const double difference = mean(a) - mean(b);
  const double of_a = variance_of_mean(a), of_b = variance_of_mean(b);
  const double both = of_a + of_b;
  if (both <= 0) return {difference, difference, difference};
  const double freedom = both * both /
                         (of_a * of_a / static_cast<double>(a.size() - 1) +
                          of_b * of_b / static_cast<double>(b.size() - 1));
  const double half = student_quantile(freedom, alpha) * std::sqrt(both);
  return {difference, difference - half, difference + half};
}

/// The level at which an interval of "the best of `count`, less another" covers with `confidence`
/// where all of them are equal: the best looks better than it is, by its luck. Never above
/// 1 - confidence. Source: the integral of R. E. Bechhofer, "A Single-Sample Multiple Decision
/// Procedure for Ranking Means of Normal Populations with Known Variances", 1954, without the
/// draws in which the other is the best itself.
inline double alpha_beside_best(int count, double confidence = 0.95) noexcept {
  if (count < 3) return 1 - confidence;
  const auto covered = [&](double width) {  // the chance, in deviations of one
    constexpr double step = 0.02;
    double sum = 0;
    for (double x = -7; x < 7; x += step) {
      const double below = std::erfc(-(x + width) / std::numbers::sqrt2) / 2;
      sum += step * std::exp(-x * x / 2) * std::pow(below, count - 1);
    }
    const double all = sum / std::sqrt(2 * std::numbers::pi);
    return (all * count - 1) / (count - 1);
  };
  double low = 0, high = 10;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (covered(middle) < confidence ? low : high) = middle;
  }
  return std::erfc(low / 2);  // two tails; a difference deviates by the root of two
}

/// Geometric mean of positive values with its interval.
inline Interval geometric_interval(std::span<const double> values, double alpha) {
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), [](double v) { return std::log(v); });
  const Interval interval = mean_interval(logs, alpha);
  return {std::exp(interval.estimate), std::exp(interval.low), std::exp(interval.high)};
}

}  // namespace feedrate::inline v0
