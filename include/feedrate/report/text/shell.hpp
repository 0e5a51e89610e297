// SPDX-License-Identifier: Apache-2.0
// Words of a command line as a shell takes them, so that commands in a report can be pasted.
#pragma once

#include <algorithm>
#include <array>
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

namespace detail {

/// Whether an option or a variable is named as a secret: --hf-token, api.key, WANDB_API_KEY.
inline bool names_secret(std::string_view name) {
  std::string last(name.substr(name.find_last_of("-_.") + 1));  // all where there is none
  std::transform(last.begin(), last.end(), last.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  constexpr std::array<std::string_view, 9> secrets = {
      "key", "apikey", "token", "password", "passwd", "pwd", "secret", "credential", "credentials"};
  return std::find(secrets.begin(), secrets.end(), last) != secrets.end();
}

/// Without what follows "NAME=", or the option before, where that is named as a secret.
inline std::string masked(const std::string& word, std::string_view before) {
  const std::size_t equals = word.find('=');
  if (equals != word.npos && names_secret(std::string_view(word).substr(0, equals))) {
    return word.substr(0, equals + 1) + "***";
  }
  const bool is_value = before.starts_with('-') && !word.starts_with('-') && names_secret(before);
  return is_value ? "***" : word;
}

}  // namespace detail

/// A command line for people: words that a shell reads as they are, with *** in the place of what
/// options and variables hold that are named as secrets.
inline std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) line += ' ';
    line += shell_quoted(detail::masked(words[i], i > 0 ? words[i - 1] : ""));
  }
  return line;
}

/// The same of a program's words, and those that it is given.
inline std::string shell_line(std::vector<std::string> program,
                              const std::vector<std::string>& words) {
  program.insert(program.end(), words.begin(), words.end());
  return shell_line(program);
}

/// The words of a line that `shell_line` made, with a space between them.
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
