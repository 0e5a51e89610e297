// SPDX-License-Identifier: Apache-2.0
// Parses axis values and times: "0,1,2,4", "16:1024:x2", "on,off", "100us".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "feedrate/core/axes.hpp"

namespace feedrate {

/// Whole numbers: a list "0,1,2,4", or a range "16:1024:x2" or "0:8:2", ends included. Each value
/// lies within [least, most]. Throws Error(usage) naming the flag.
std::vector<int> parse_integers(std::string_view flag, std::string_view text, int least, int most);

/// One whole number within [least, most]. Throws Error(usage) naming the flag.
int parse_integer(std::string_view flag, std::string_view text, int least, int most);

/// A whole number from 0 on. Throws Error(usage) naming the flag.
std::uint64_t parse_count(std::string_view flag, std::string_view text);

/// A time in seconds: "60s", "100us", "2min"; a plain number is seconds. Not negative.
double parse_seconds(std::string_view flag, std::string_view text);

/// "5%" as 0.05.
double parse_percent(std::string_view flag, std::string_view text);

/// A size in bytes: "1GiB", "500MB", "1.5 TB"; a plain number is bytes. At least one byte.
std::uint64_t parse_bytes(std::string_view flag, std::string_view text);

/// Which of `names` the text is. Throws Error(usage) naming the flag.
std::size_t parse_name(std::string_view flag, std::string_view text,
                       const std::vector<std::string_view>& names);

/// Which of `names` the comma-separated words of `text` are.
std::vector<std::size_t> parse_names(std::string_view flag, std::string_view text,
                                     const std::vector<std::string_view>& names);

/// The values of an axis as its flag takes them: numbers or names. Each value once, in order.
template <class T>
std::vector<T> parse_values(const Axis<T>& axis, std::string_view flag, std::string_view text) {
  if constexpr (std::is_same_v<T, int>) {
    return parse_integers(flag, text, axis.least, axis.most);
  } else {
    std::vector<T> values;
    for (const std::size_t index :
         parse_names(flag, text, {names_of<T>.begin(), names_of<T>.end()})) {
      values.push_back(static_cast<T>(index));
    }
    return values;
  }
}

/// One value of an axis.
template <class T>
T parse_value(const Axis<T>& axis, std::string_view flag, std::string_view text) {
  if constexpr (std::is_same_v<T, int>) {
    return parse_integer(flag, text, axis.least, axis.most);
  } else {
    return static_cast<T>(parse_name(flag, text, {names_of<T>.begin(), names_of<T>.end()}));
  }
}

}  // namespace feedrate
