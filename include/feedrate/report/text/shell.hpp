// SPDX-License-Identifier: Apache-2.0
// Words of a command line as a shell takes them, so that commands in a report can be pasted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::inline v0 {

/// A word that a POSIX shell reads as it is: quoted only where it must be.
/// Source: IEEE Std 1003.1-2017, 2.2.2: within single quotes only the single quote is special.
inline std::string shell_quoted(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The words of a line that `shell_quoted` made, with a space between them.
inline std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\'') {
      quoted = !quoted;
    } else if (line[i] == ' ' && !quoted) {
      words.emplace_back();
    } else {
      if (line[i] == '\\' && !quoted && i + 1 < line.size()) ++i;
      words.back() += line[i];
    }
  }
  return words;
}

}  // namespace feedrate::inline v0
