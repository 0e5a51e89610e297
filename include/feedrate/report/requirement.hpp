// SPDX-License-Identifier: Apache-2.0
// A requirement of the user's, such as "fed >= 0.90", and what came of it. Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

/// A metric that can be required.
struct MetricKind {
  std::string_view name;
  std::string_view unit;  ///< samples/s, s, bytes, or 1 for a share, ratio or count
  bool higher_is_better = true;
};

/// How a metric shall stand to its bound.
enum class Relation : std::uint8_t { at_least, above, at_most, below };

inline constexpr std::array<std::string_view, 4> relation_signs = {">=", ">", "<=", "<"};

/// What is asked.
struct Requirement {
  std::string text = {};    ///< as it was given
  std::string metric = {};  ///< its name
  Relation relation = Relation::at_least;
  double bound = 0;  ///< in the metric's unit
};

/// What a requirement came to.
enum class Fulfilment : std::uint8_t { met, inconclusive, not_met };

inline constexpr std::array<std::string_view, 3> fulfilment_names = {"met", "inconclusive",
                                                                     "not_met"};

constexpr std::string_view name_of(Fulfilment fulfilment) noexcept {
  return fulfilment_names[static_cast<std::size_t>(fulfilment)];
}

/// A requirement that was judged.
struct GateRequirement {
  std::string text = {};               ///< as it was given
  std::string metric = {};             ///< its name
  std::optional<Interval> value = {};  ///< empty where it was not measured
  Fulfilment fulfilment = Fulfilment::inconclusive;
  std::string reason = {};  ///< one sentence, where it is not met, not known, or of the reference
};

}  // namespace feedrate::inline v0
