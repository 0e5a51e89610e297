// SPDX-License-Identifier: Apache-2.0
// Text of any bytes as valid UTF-8 without control characters, so that each format and each
// terminal takes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace feedrate::inline v0 {
namespace detail {

inline constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

constexpr unsigned byte_at(std::string_view text, std::size_t i) noexcept {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

/// How many bytes the character at the front takes; 0 where it is not valid.
/// Source: The Unicode Standard 15, table 3-7, "Well-Formed UTF-8 Byte Sequences".
constexpr std::size_t utf8_length(std::string_view text) noexcept {
  const unsigned first = byte_at(text, 0), second = byte_at(text, 1);
  const auto continues = [&](std::size_t i) { return (byte_at(text, i) & 0xC0) == 0x80; };
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !continues(1)) return 0;
  if (first < 0xE0) return 2;
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
  if (first < 0xF0) return continues(2) ? 3 : 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return continues(2) && continues(3) ? 4 : 0;
}

/// What XML 1.0 and terminals take: no control characters, no U+FFFE, no U+FFFF.
constexpr bool is_printable(std::string_view character) noexcept {
  const unsigned first = byte_at(character, 0), second = byte_at(character, 1);
  if (character.size() == 1) return first >= 0x20 && first != 0x7F;
  if (character.size() == 2) return first != 0xC2 || second >= 0xA0;
  return !(first == 0xEF && second == 0xBF && byte_at(character, 2) >= 0xBE);
}

}  // namespace detail

/// Line breaks and tabs become blanks; other control characters and invalid bytes become U+FFFD.
inline std::string clean_text(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t length = detail::utf8_length(text);
    const std::string_view character = text.substr(0, length ? length : 1);
    const bool blank = character == "\n" || character == "\r" || character == "\t";
    const bool keep = length && detail::is_printable(character);
    clean += blank ? std::string_view(" ") : keep ? character : detail::replacement;
    text.remove_prefix(character.size());
  }
  return clean;
}

namespace detail {

/// How many bytes the colour at the front takes, such as "\x1b[1;31m"; 0 where there is none.
/// Source: ECMA-48, 8.3.117, Select Graphic Rendition.
constexpr std::size_t color_length(std::string_view text) noexcept {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != text.npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace detail

/// The same for text of many lines: line breaks, tabs and colours stay.
inline std::string terminal_text(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t color = detail::color_length(text);
    const std::size_t kept = color ? color : text[0] == '\n' || text[0] == '\t' ? 1 : 0;
    const std::size_t length = kept ? kept : std::max<std::size_t>(detail::utf8_length(text), 1);
    const std::string_view character = text.substr(0, length);
    clean += kept ? std::string(character) : clean_text(character);
    text.remove_prefix(length);
  }
  return clean;
}

}  // namespace feedrate::inline v0
