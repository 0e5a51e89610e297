// SPDX-License-Identifier: Apache-2.0
// Conclusions on a change: has it made a rate lower than is tolerated?
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace feedrate::inline v0 {

/// From the best news to the worst; a conclusion on several metrics is the worst of them.
enum class Conclusion : std::uint8_t {
  pass,            ///< the loss is smaller than the largest one allowed
  inconclusive,    ///< the data allow both
  not_comparable,  ///< nothing can be said: measured differently, or on a slower machine
  slower,          ///< the loss is larger than tolerated
};

constexpr std::string_view name_of(Conclusion conclusion) noexcept {
  constexpr std::array<std::string_view, 4> names = {"pass", "inconclusive", "not_comparable",
                                                     "slower"};
  return names[static_cast<std::size_t>(conclusion)];
}

constexpr Conclusion worse_of(Conclusion a, Conclusion b) noexcept {
  return std::max(a, b);
}

/// Losses of the rate, as shares of the base's.
struct LossLimits {
  double tolerated = 0.03;  ///< a loss that is surely larger is an alarm
  double max = 0.10;        ///< a change passes where its loss is surely smaller

  /// As logarithms of head's rate over base's.
  double log_tolerated() const noexcept { return std::log1p(-tolerated); }
  /// `max` as the logarithm of a ratio.
  double log_max() const noexcept { return std::log1p(-max); }
};

}  // namespace feedrate::inline v0
