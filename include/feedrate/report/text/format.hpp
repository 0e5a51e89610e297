// SPDX-License-Identifier: Apache-2.0
// Times, shares and columns for people, beside numbers and bytes. Values come in SI units; nothing
// depends on the locale.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/quantity.hpp"

namespace feedrate::inline v0 {

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

/// Half of an interval's width relative to its estimate, as "±1.2 %"; empty where nothing is known.
/// Of two rounds it can be a million times the estimate: "±>99 %" says as much.
inline std::string format_error(double relative) {
  if (!std::isfinite(relative)) return "";
  return relative > 0.99 ? "±>99 %" : "±" + format_percent(relative);
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

}  // namespace feedrate::inline v0
