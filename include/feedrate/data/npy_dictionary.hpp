// SPDX-License-Identifier: Apache-2.0
// The dictionary in the header of a NumPy file, read without Python.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/tensor.hpp"

namespace feedrate::inline v0::detail {

/// What is wrong with a file: the middle of a sentence that begins with its name.
struct BadNpy {
  std::string reason;
};

/// Reads the Python dictionary {'descr': ..., 'fortran_order': ..., 'shape': (...), }: its three
/// keys in any order, each once, nothing else. Throws BadNpy.
class NpyDictionary {
 public:
  explicit NpyDictionary(std::string_view text) : rest_(text) { read(); }

  std::string_view descr;
  bool fortran_order = false;
  std::vector<std::size_t> extents;

 private:
  void read() {
    expect('{');
    unsigned seen = 0;
    while (!accept('}')) {
      const unsigned key = read_entry();
      if ((seen & key) != 0) malformed();
      seen |= key;
      if (!accept(',') && peek() != '}') malformed();
    }
    skip_space();
    if (seen != 7 || !rest_.empty()) malformed();
  }

  unsigned read_entry() {
    const std::string_view key = read_string();
    expect(':');
    if (key == "descr") return read_descr(), 1u;
    if (key == "fortran_order") return fortran_order = read_bool(), 2u;
    if (key == "shape") return read_shape(), 4u;
    malformed();
  }

  void read_descr() {
    if (peek() == '[') throw BadNpy{"has elements of several fields"};
    descr = read_string();
  }

  void read_shape() {
    expect('(');
    while (!accept(')')) {
      extents.push_back(read_number());
      if (extents.size() > Shape::max_rank + 1) throw BadNpy{"has too many dimensions"};
      if (!accept(',') && peek() != ')') malformed();
    }
  }

  std::size_t read_number() {
    constexpr std::size_t top = std::numeric_limits<std::size_t>::max();
    std::size_t value = 0;
    const char first = peek();
    if (first < '0' || first > '9') malformed();
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) {
      const auto digit = static_cast<std::size_t>(rest_[0] - '0');
      if (value > (top - digit) / 10) throw BadNpy{"claims more elements than fit memory"};
      value = value * 10 + digit;
    }
    return value;
  }

  bool read_bool() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (rest_.substr(0, word.size()) != word) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    malformed();
  }

  std::string_view read_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') malformed();
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) malformed();
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  char peek() {
    skip_space();
    return rest_.empty() ? '\0' : rest_[0];
  }

  bool accept(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) malformed();
  }

  [[noreturn]] static void malformed() { throw BadNpy{"has a malformed header"}; }

  std::string_view rest_;
};

}  // namespace feedrate::inline v0::detail
