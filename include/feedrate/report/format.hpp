// SPDX-License-Identifier: Apache-2.0
// Numbers, units and columns for people. Values come in SI units; nothing depends on the locale.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate {

/// `value` with that many decimals: fixed(3.14159, 2) is "3.14".
inline std::string fixed(double value, int decimals) {
  std::array<char, 352> text;  // the largest double has 309 digits before the point
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, std::clamp(decimals, 0, 17));
  return {text.data(), end.ptr};
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
  const auto fits = [&](const Unit& unit) { return std::abs(value) >= unit.size * 0.9995; };
  const auto found = std::find_if(units.rbegin(), units.rend(), fits);
  return found == units.rend() ? units.front() : *found;
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
  return format_number(value / prefix.size, significant) + " " + std::string(prefix.name);
}

/// A span of time: "340 us", "1.25 s", "2 min 5 s", "1 h 0 min".
inline std::string format_duration(double seconds) {
  constexpr std::array<detail::Unit, 4> units = {
      {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}};
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0) return std::string("-").append(format_duration(-seconds));
  if (seconds == 0) return "0 s";
  if (seconds < 99.5) {
    const detail::Unit unit = detail::unit_for(seconds, units);
    return format_number(seconds / unit.size) + " " + std::string(unit.name);
  }
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return format_count(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

/// A share from 0 to 1 as "42 %"; below 10 % with one decimal.
inline std::string format_percent(double share) {
  if (!std::isfinite(share)) return "-";
  const bool small = share != 0 && std::abs(share) < 0.0995;
  return fixed(100 * share, small ? 1 : 0) + " %";
}

/// How many columns a UTF-8 text takes: its code points. Wide and combining ones are not known.
inline std::size_t columns_of(std::string_view text) noexcept {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

/// Filled up with blanks on the right, to `columns`.
inline std::string left_aligned(std::string_view text, std::size_t columns) {
  const std::size_t used = std::min(columns, columns_of(text));
  return std::string(text) + std::string(columns - used, ' ');
}

/// Filled up with blanks on the left, to `columns`.
inline std::string right_aligned(std::string_view text, std::size_t columns) {
  const std::size_t used = std::min(columns, columns_of(text));
  return std::string(columns - used, ' ') + std::string(text);
}

/// The lines of `text` when broken at blanks so that each fits; a longer word keeps its own line.
inline std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    const bool fits = columns_of(lines.back()) + 1 + columns_of(word) <= columns;
    if (!lines.back().empty() && !fits) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

/// "label     text", wrapped within `width`, what follows the first line indented by `indent`.
inline std::string labelled(std::string_view label, std::string_view text, std::size_t indent,
                            std::size_t width) {
  std::string block;
  std::string_view head = label;
  for (const auto& line : wrapped(text, std::max(width, indent + 20) - indent)) {
    const std::string left = left_aligned(head, indent);
    block += line.empty() ? std::string(head) + "\n" : left + line + "\n";
    head = {};
  }
  return block;
}

}  // namespace feedrate
