// SPDX-License-Identifier: Apache-2.0
#include "axes.hpp"

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

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::optional<int> integer(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The values of "first:last:step", where the step is "x2" or "2"; empty when it is not that.
std::vector<int> range(std::string_view text) {
  const auto parts = split(text, ':');
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
  for (const std::string_view part : split(text, ',')) {
    const auto value = integer(part);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
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

std::vector<std::size_t> parse_names(std::string_view flag, std::string_view text,
                                     const std::vector<std::string_view>& names) {
  std::vector<std::size_t> indices;
  for (const std::string_view part : split(text, ',')) {
    const auto found = std::find(names.begin(), names.end(), part);
    if (found == names.end()) {
      std::string known;
      for (const std::string_view name : names) {
        known += (known.empty() ? "" : ", ") + std::string(name);
      }
      refuse(flag, text, "it takes one or more of " + known + ", separated by commas");
    }
    indices.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return unique(indices);
}

std::vector<bool> parse_switches(std::string_view flag, std::string_view text) {
  std::vector<bool> values;
  for (const std::size_t index : parse_names(flag, text, {"off", "on"})) {
    values.push_back(index == 1);
  }
  return values;
}

std::vector<Precision> parse_precisions(std::string_view flag, std::string_view text) {
  std::vector<Precision> values;
  for (const std::size_t index :
       parse_names(flag, text, {precision_names.begin(), precision_names.end()})) {
    values.push_back(static_cast<Precision>(index));
  }
  return values;
}

double parse_seconds(std::string_view flag, std::string_view text) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"min", 60}, {"h", 3600}};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto found = std::find_if(std::begin(units), std::end(units),
                                  [&](const auto& known) { return known.first == unit; });
  if (error != std::errc{} || found == std::end(units) || !std::isfinite(value) || value < 0) {
    refuse(flag, text, "write a time such as 60s, 100us or 2min");
  }
  return value * found->second;
}

}  // namespace feedrate
