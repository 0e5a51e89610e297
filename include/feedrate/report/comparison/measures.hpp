// SPDX-License-Identifier: Apache-2.0
// The figures of a report that others are compared with.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "feedrate/report/gate/of_report.hpp"

namespace feedrate::inline v0 {

/// The recommended trial, or null.
inline const Trial* recommended_trial(const Report& report) {
  return report.outcome.tiers.empty() ? nullptr : &report.outcome.recommended();
}

/// A figure by its name; empty where a report lacks it.
struct Measure {
  std::string_view name;   ///< in JSON
  std::string_view words;  ///< for people
  std::string_view unit;   ///< empty: a share
  std::optional<double> (*value)(const Report&);
};

namespace detail {

inline std::optional<double> estimate(const std::optional<Interval>& interval) {
  return interval && std::isfinite(interval->estimate) ? std::optional(interval->estimate)
                                                       : std::nullopt;
}

/// A rate of the machine card.
template <class Pick>
std::optional<double> of_card(const Report& report, Pick&& pick) {
  if (!report.card) return std::nullopt;
  const Rate& rate = pick(*report.card);
  return rate.known() ? std::optional(rate.per_s) : std::nullopt;
}

}  // namespace detail

/// What outliers are looked for in: the pipeline first, then the machine.
inline constexpr std::array<Measure, 7> measures = {{
    {"samples_per_s", "rate", "samples/s",
     [](const Report& r) { return detail::estimate(metric_of(r, "samples_per_s")); }},
    {"fed", "fed", "", [](const Report& r) { return detail::estimate(metric_of(r, "fed")); }},
    {"decode_images_per_s", "decoding", "images/s",
     [](const Report& r) {
       return detail::of_card(r, [](const MachineCard& c) { return c.decode.images.all; });
     }},
    {"read_bytes_per_s", "reading from storage", "B/s",
     [](const Report& r) {
       return detail::of_card(r, [](const MachineCard& c) { return c.read.cold; });
     }},
    {"cached_read_bytes_per_s", "reading from the page cache", "B/s",
     [](const Report& r) {
       return detail::of_card(r, [](const MachineCard& c) { return c.read.cached; });
     }},
    {"copy_bytes_per_s", "memory copy", "B/s",
     [](const Report& r) {
       return detail::of_card(r, [](const MachineCard& c) { return c.copy.all; });
     }},
    {"product_flops_per_s", "matrix products", "FLOP/s",
     [](const Report& r) { return product_flops_per_s(r, Precision::fp32); }},
}};

}  // namespace feedrate::inline v0
