// SPDX-License-Identifier: Apache-2.0
// Reads the small text files of /proc and /sys, under a root that tests can replace.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::inline v0 {

/// The contents of a text file, about `most` bytes of it; absent where it can't be opened or read.
inline std::optional<std::string> read_text(const std::string& path,
                                            std::size_t most = std::size_t{4} << 20) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "re"), [](auto* f) { return std::fclose(f); });
  if (!file) return std::nullopt;
  std::string text;
  char block[4096];
  std::size_t got = 0;
  while (text.size() < most && (got = std::fread(block, 1, sizeof block, file.get())) > 0) {
    text.append(block, got);
  }
  if (std::ferror(file.get())) return std::nullopt;
  return text;
}

/// Without the blanks and newlines at both ends.
inline std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The pieces between separators, empty ones left out.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

/// A whole non-negative decimal number and nothing else; absent otherwise.
inline std::optional<std::uint64_t> parse_count(std::string_view text) noexcept {
  text = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The number in a one-number file, such as memory.limit_in_bytes; absent for "max", -1 or nothing.
inline std::optional<std::uint64_t> read_count(const std::string& path) {
  const auto text = read_text(path);
  return text ? parse_count(*text) : std::nullopt;
}

/// What follows `key` on the first line that begins with it, trimmed, as in "MemTotal:  12 kB".
inline std::optional<std::string_view> value_after(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.substr(0, key.size()) == key) return trimmed(line.substr(key.size()));
  }
  return std::nullopt;
}

}  // namespace feedrate::inline v0
