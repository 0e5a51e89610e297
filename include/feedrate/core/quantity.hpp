// SPDX-License-Identifier: Apache-2.0
// Numbers and units for people. Values come in SI units; nothing depends on the locale.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace feedrate::inline v0 {

/// `value` with that many decimals: fixed(3.14159, 2) is "3.14".
inline std::string fixed(double value, int decimals) {
  std::array<char, 352> text;  // the largest double has 309 digits before the point
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, std::clamp(decimals, 0, 17));
  return {text.data(), end.ptr};
}

/// With one decimal, or two where it has them: "2.0", "2.25".
inline std::string one_or_two_decimals(double value) {
  std::string text = fixed(value, 2);
  if (text.ends_with('0')) text.pop_back();
  return text;
}

/// Digits of the integer part in groups of three: "14642.5" becomes "14,642.5".
inline std::string grouped(std::string_view digits) {
  const std::size_t first = std::min(digits.find_first_of("0123456789"), digits.size());
  const std::size_t end = std::min(digits.find('.'), digits.size());
  std::string text(digits.substr(0, first));
  for (std::size_t i = first; i < digits.size(); ++i) {
    if (i > first && i < end && (end - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

namespace detail {

/// Decimals that show `significant` digits of a value, none where the integer part has them all.
inline int decimals_for(double value, int significant) {
  const double size = std::abs(value);
  if (!(size > 0) || !std::isfinite(size)) return 0;
  const int decimals = significant - 1 - static_cast<int>(std::floor(std::log10(size)));
  // Rounding may add a digit in front: 9.96 shown with two digits is "10", not "10.0".
  const double rounded = std::round(size * std::pow(10.0, decimals)) / std::pow(10.0, decimals);
  const int after = significant - 1 - static_cast<int>(std::floor(std::log10(rounded)));
  return std::max(0, std::min(decimals, after));
}

struct Unit {
  double size;
  std::string_view name;
};

/// The largest unit that is not larger than the value as it will be shown; `units` ascend.
template <std::size_t N>
Unit unit_for(double value, const std::array<Unit, N>& units) {
  std::size_t found = N - 1;
  while (found > 0 && std::abs(value) < units[found].size * 0.9995) --found;
  return units[found];
}

}  // namespace detail

/// A plain number with `significant` digits and groups: 0.0123, 4.56, 14,642. Infinite and
/// undefined values are "-".
inline std::string format_number(double value, int significant = 3) {
  if (!std::isfinite(value)) return "-";
  return grouped(fixed(value, detail::decimals_for(value, significant)));
}

/// A whole number with groups.
inline std::string format_count(std::uint64_t count) {
  return grouped(std::to_string(count));
}

/// With a decimal prefix: format_si(1.9e9, "B/s") is "1.90 GB/s".
inline std::string format_si(double value, std::string_view unit, int significant = 3) {
  constexpr std::array<detail::Unit, 5> prefixes = {
      {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}};
  if (!std::isfinite(value)) return "-";
  const detail::Unit prefix = detail::unit_for(value, prefixes);
  return format_number(value / prefix.size, significant) + " " + std::string(prefix.name) +
         std::string(unit);
}

/// Sizes of memory and storage, in powers of two: "23.4 GiB".
inline std::string format_bytes(std::uint64_t bytes, int significant = 3) {
  constexpr std::array<detail::Unit, 5> prefixes = {
      {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}}};
  const auto value = static_cast<double>(bytes);
  const detail::Unit prefix = detail::unit_for(value, prefixes);
  if (prefix.size == 1) return format_count(bytes) + " B";
  return format_number(value / prefix.size, significant) + " " + std::string(prefix.name);
}

}  // namespace feedrate::inline v0
