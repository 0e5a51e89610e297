// SPDX-License-Identifier: Apache-2.0
// Words of a command line as a shell takes them, so that commands in a report can be pasted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
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

/// Whether an option or a variable is named as a secret: --hf-token, api.key, WANDB_API_KEY,
/// PGPASSWORD, --key-prod.
inline bool names_secret(std::string_view name) {
  std::string letters;      // in lower case, without what parts words
  std::string words = " ";  // the same, with a space in its place
  for (const char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const bool is_letter = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (is_letter) letters += lower;
    words += is_letter ? lower : ' ';
  }
  words += ' ';
  letters.erase(letters.find_last_not_of("0123456789") + 1);  // as of HF_TOKEN_2
  constexpr std::array<std::string_view, 8> anywhere = {"password",  "passwd",     "passphrase",
                                                        "secret",    "credential", "apikey",
                                                        "accesskey", "privatekey"};
  constexpr std::array<std::string_view, 3> at_end = {"key", "token", "pwd"};
  const auto is_word = [&](auto word) {
    return words.find(" " + std::string(word) + " ") != words.npos;
  };
  return std::any_of(anywhere.begin(), anywhere.end(),
                     [&](auto word) { return letters.find(word) != letters.npos; }) ||
         std::any_of(at_end.begin(), at_end.end(),
                     [&](auto word) { return letters.ends_with(word) || is_word(word); }) ||
         words.ends_with(" pass ");
}

/// Without what identifies a user in addresses: the password of "scheme://user:password@host", and
/// of "https://token@host" all but the name that git has there.
inline std::string without_passwords(std::string word) {
  std::size_t begin = 0;
  while ((begin = word.find("://", begin)) != word.npos) {
    begin += 3;
    const std::size_t end = std::min(word.find('/', begin), word.size());
    const std::size_t at = word.rfind('@', end);
    if (at == word.npos || at < begin) continue;
    const std::size_t colon = word.find(':', begin);
    const std::size_t secret = colon < at ? colon + 1 : begin;
    if (word.substr(secret, at - secret) != "git") word.replace(secret, at - secret, "***");
  }
  return word;
}

/// Without what follows "NAME=", or the option before, where that is named as a secret.
inline std::string masked_word(const std::string& word, std::string_view before) {
  const std::size_t equals = word.find('=');
  const bool is_setting = equals != word.npos && word.find(' ') > equals;
  if (is_setting && names_secret(std::string_view(word).substr(0, equals))) {
    return word.substr(0, equals + 1) + "***";
  }
  const bool is_value = before.starts_with('-') && !word.starts_with("--") && names_secret(before);
  return is_value ? "***" : without_passwords(word);
}

/// The same of each word of a shell's line.
inline std::string masked_line(std::string_view line) {
  std::string text, before, word;
  char quote = 0;
  const auto end_word = [&] {
    text += masked_word(word, before);
    before = std::exchange(word, {});
  };
  for (const char c : line) {
    const bool parts = quote == 0 && std::string_view(" \t\n;&|").find(c) != std::string_view::npos;
    if (!parts) word += c;
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    }
    if (!parts) continue;
    if (!word.empty()) end_word();
    text += c;
  }
  end_word();
  return text;
}

/// A word of a command line without secrets; it may be a line itself, as behind `sh -c` or `-lc`.
inline std::string masked(const std::string& word, std::string_view before) {
  if (before.starts_with('-') && before.ends_with('c')) return masked_line(word);
  const std::string one = masked_word(word, before);
  return one != word || word.find(' ') == word.npos ? one : masked_line(word);
}

}  // namespace detail

/// A command line for people: words that a shell reads as they are, with *** in the place of what
/// options and variables hold that are named as secrets, and of passwords in addresses.
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
