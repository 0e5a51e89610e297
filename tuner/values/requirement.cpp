// SPDX-License-Identifier: Apache-2.0
#include "values/requirement.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/core/system_files.hpp"
#include "values/axes.hpp"

namespace feedrate {
namespace {

[[noreturn]] void refuse_requirement(const std::string& text, const std::string& why) {
  throw Error(Fault::usage, "--require '" + text + "' " + why);
}

const MetricKind& kind_named(const std::string& text, std::string_view name,
                             std::span<const MetricKind> kinds) {
  std::string all;
  for (const MetricKind& kind : kinds) {
    if (kind.name == name) return kind;
    (all += all.empty() ? "" : ", ") += kind.name;
  }
  refuse_requirement(text, "names no metric: use one of " + all + ".");
}

/// Where the sign is, and which; the longer of two that begin alike.
std::pair<std::size_t, Relation> sign_in(const std::string& text) {
  const std::size_t at = text.find_first_of("<>=!");
  for (std::size_t i = 0; at != text.npos && i < relation_signs.size(); ++i) {
    const std::string_view sign = relation_signs[i];
    const bool ends = text.find_first_of("<>=!", at + sign.size()) == text.npos;
    if (text.compare(at, sign.size(), sign) == 0 && ends) return {at, static_cast<Relation>(i)};
  }
  refuse_requirement(text, "needs one of >=, >, <= and <, in quotes: --require 'fed >= 0.90'.");
}

/// The number, times a decimal or binary prefix, before a unit that may be left out: "1.5GB/s" of
/// bytes/s, "12k" and "12k samples/s" of samples/s.
std::optional<double> parse_scaled(std::string_view text, std::string_view unit) {
  constexpr std::pair<std::string_view, double> prefixes[] = {
      {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"k", 1e3},
      {"K", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},    {"", 1}};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  text = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  for (const auto& [prefix, factor] : prefixes) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view rest = trimmed(text.substr(prefix.size()));
    const bool is_bytes = unit == "bytes/s" && (rest == "B" || rest == "B/s");
    if (rest.empty() || rest == unit || is_bytes) return value * factor;
  }
  return std::nullopt;
}

std::optional<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text = trimmed(text.substr(0, text.size() - 1));
  const auto value = parse_scaled(text, "");
  if (value && percent) return *value / 100;
  return value;
}

double bound_of(const std::string& text, const MetricKind& kind, std::string_view bound) {
  const std::string flag = "The bound of --require '" + text + "'";
  if (kind.unit == "s") return parse_seconds(flag, bound);
  if (kind.unit == "bytes") return static_cast<double>(parse_bytes(flag, bound));
  const bool is_number = kind.unit == "1";
  const auto value = is_number ? parse_share(bound) : parse_scaled(bound, kind.unit);
  if (value) return *value;
  refuse_requirement(
      text, is_number ? "has no bound that is a number, such as 0.9 or 90%."
                      : "has no bound in " + std::string(kind.unit) + ", such as 500 or 12k.");
}

}  // namespace

Requirement parse_requirement(const std::string& text, std::span<const MetricKind> kinds) {
  const auto [at, relation] = sign_in(text);
  const std::string_view whole = text;
  const std::string_view sign = relation_signs[static_cast<std::size_t>(relation)];
  const MetricKind& kind = kind_named(text, trimmed(whole.substr(0, at)), kinds);
  const double bound = bound_of(text, kind, trimmed(whole.substr(at + sign.size())));
  return {text, std::string(kind.name), relation, bound};
}

}  // namespace feedrate
