// SPDX-License-Identifier: Apache-2.0
#include "values/axes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "feedrate/core/error.hpp"

namespace feedrate {
namespace {

[[noreturn]] void refuse(std::string_view flag, std::string_view text, const std::string& wanted) {
  throw Error(Fault::usage,
              std::string(flag) + " '" + std::string(text) + "' makes no sense: " + wanted + ".");
}

/// The parts between separators; an empty one is a mistake that somebody made.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

template <class T = int>
std::optional<T> integer(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The values of "first:last:step", where the step is "x2" or "2"; empty when it is not that.
std::vector<int> range(std::string_view text) {
  const auto parts = parts_of(text, ':');
  if (parts.size() != 3 || parts[2].empty()) return {};
  const bool multiplies = parts[2][0] == 'x';
  const auto first = integer(parts[0]);
  const auto last = integer(parts[1]);
  const auto step = integer(parts[2].substr(multiplies ? 1 : 0));
  if (!first || !last || !step || *step < (multiplies ? 2 : 1) || *first > *last) return {};
  if (multiplies && *first < 1) return {};
  std::vector<int> values;
  for (long long value = *first; value <= *last; multiplies ? value *= * step : value += *step) {
    values.push_back(static_cast<int>(value));
    if (values.size() > 1000) return {};
  }
  return values;
}

std::vector<int> list(std::string_view text) {
  std::vector<int> values;
  for (const std::string_view part : parts_of(text, ',')) {
    const auto value = integer(part);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

/// A number and the unit behind it; empty where the text does not begin with a finite number.
std::optional<std::pair<double, std::string_view>> quantity(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return std::pair(value, text);
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) (list += list.empty() ? "" : ", ") += name;
  return list;
}

template <class T>
std::vector<T> unique(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace

std::vector<int> parse_integers(std::string_view flag, std::string_view text, int least, int most) {
  const bool is_range = text.find(':') != std::string_view::npos;
  const std::vector<int> values = is_range ? range(text) : list(text);
  const auto outside = [&](int value) { return value < least || value > most; };
  if (values.empty() || std::any_of(values.begin(), values.end(), outside)) {
    refuse(flag, text,
           "write whole numbers from " + std::to_string(least) + " to " + std::to_string(most) +
               " as a list such as 1,2,4 or a range such as 16:1024:x2");
  }
  return unique(values);
}

int parse_integer(std::string_view flag, std::string_view text, int least, int most) {
  const auto value = integer(text);
  if (value && *value >= least && *value <= most) return *value;
  refuse(flag, text,
         "write a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

std::uint64_t parse_count(std::string_view flag, std::string_view text) {
  const auto value = integer<std::uint64_t>(text);
  if (!value) refuse(flag, text, "write a whole number from 0 on");
  return *value;
}

std::size_t parse_name(std::string_view flag, std::string_view text,
                       const std::vector<std::string_view>& names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) refuse(flag, text, "it takes one of " + listed(names));
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<std::size_t> parse_names(std::string_view flag, std::string_view text,
                                     const std::vector<std::string_view>& names) {
  std::vector<std::size_t> indices;
  for (const std::string_view part : parts_of(text, ',')) {
    const auto found = std::find(names.begin(), names.end(), part);
    if (found == names.end()) {
      refuse(flag, text, "it takes one or more of " + listed(names) + ", separated by commas");
    }
    indices.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return unique(indices);
}

std::uint64_t parse_bytes(std::string_view flag, std::string_view text) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"", 1},      {"B", 1},        {"kB", 1e3},     {"KB", 1e3},     {"MB", 1e6},    {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  const auto read = quantity(text);
  for (const auto& [unit, size] : units) {
    const double bytes = read ? read->first * size : 0;
    if (read && read->second == unit && bytes >= 1 && bytes < 0x1p63) {
      return static_cast<std::uint64_t>(bytes);
    }
  }
  refuse(flag, text, "write a size such as 500MB or 1.5GiB");
}

double parse_seconds(std::string_view flag, std::string_view text) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"min", 60}, {"h", 3600}};
  const auto read = quantity(text);
  for (const auto& [unit, seconds] : units) {
    if (read && read->second == unit) return read->first * seconds;
  }
  refuse(flag, text, "write a time such as 60s, 100us or 2min");
}

double parse_percent(std::string_view flag, std::string_view text) {
  const auto read = quantity(text);
  if (read && read->second == "%" && read->first <= 1000) return read->first / 100;
  refuse(flag, text, "write a share such as 5%");
}

}  // namespace feedrate
