// SPDX-License-Identifier: Apache-2.0
// The key of a remembered choice: machine, dataset and space, each as a word.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "feedrate/data/dataset.hpp"
#include "feedrate/machine/machine.hpp"
#include "feedrate/tune/objective/objectives.hpp"
#include "feedrate/tune/state/options.hpp"

namespace feedrate::inline v0 {

/// What a choice holds for: each a word without blanks. On anything else it is measured again.
struct ChoiceKey {
  std::string machine;  ///< fingerprint
  std::string dataset;
  std::string space;

  bool operator==(const ChoiceKey&) const = default;
};

namespace detail {

inline std::string field_text(const Field& field) {
  std::string text = field.name + ":" + std::string(name_of(field.dtype));
  for (const std::size_t extent : field.shape.extents()) (text += 'x') += std::to_string(extent);
  return text + (field.ragged ? "r;" : ";");
}

/// The place of an objective in their table.
inline std::ptrdiff_t place_of(std::string_view objective) {
  return &objective_named(objective) - objectives.data();
}

/// In the order of the tiers. What older versions have kept holds those that there were then.
inline constexpr std::array<char, tier_names.size()> tier_codes = {'0', '3', '1', '2'};

/// " workers=4 prefetch=2 ...". A newer axis at its default is left out: what older versions have
/// kept still holds.
inline std::string config_fields(const Config& config) {
  std::string text;
  for_each_axis([&](const auto& axis) {
    if (axis.newer && config.*axis.field == Config{}.*axis.field) return;
    text +=
        " " + std::string(axis.name) + "=" + std::to_string(static_cast<int>(config.*axis.field));
  });
  return text;
}

}  // namespace detail

/// "2000:" and a number that stands for the fields, and one for the key of the user's, if any.
inline std::string dataset_key(std::size_t samples, const Layout& layout,
                               const std::string& user_key = {}) {
  std::string text;
  for (const Field& field : layout) text += detail::field_text(field);
  const std::string key = std::to_string(samples) + ":" + detail::hexadecimal(detail::fnv1a(text));
  return user_key.empty() ? key : key + ":" + detail::hexadecimal(detail::fnv1a(user_key));
}

/// A number that stands for all that is asked of a sweep but its budget and seed.
inline std::string space_key(const TuneOptions& options) {
  std::string text = detail::config_fields(options.reference);
  for_each_axis_of(options.space, [&](const auto& axis, const auto& values) {
    const bool is_usual = values.size() == 1 && values.front() == Config{}.*axis.field;
    if (axis.newer && is_usual) return;
    text += "|";
    for (const auto value : values) text += std::to_string(static_cast<int>(value)) + ",";
  });
  text += "|" + std::to_string(options.space.effective_batch) +
          (options.space.workers_may_grow ? "g" : "") + "|" +
          std::to_string(detail::place_of(options.objective)) + "|" +
          std::to_string(options.max_memory_bytes) + "|";
  if (options.max_device_memory_bytes != ~std::uint64_t{0}) {
    text += std::to_string(options.max_device_memory_bytes) + "|";
  }
  for (const Tier tier : options.allowed)
    text += detail::tier_codes.at(static_cast<std::size_t>(tier));
  return detail::hexadecimal(detail::fnv1a(text));
}

}  // namespace feedrate::inline v0
