// SPDX-License-Identifier: Apache-2.0
#include "values/rate_expression.hpp"

#include <algorithm>
#include <string_view>

#include "feedrate/core/error.hpp"

namespace feedrate {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(Fault::usage, "--rate '" + text + "' makes no sense: " + why + ".");
}

/// Without back-references, and in return never slower than the square of a line's length: an
/// expression such as (a+)+$ must not stop a run.
constexpr auto syntax = std::regex::ECMAScript | std::regex_constants::__polynomial;

std::regex compiled(const std::string& text) {
  constexpr std::string_view prefix = "regex:";
  if (!text.starts_with(prefix)) {
    refuse(text, "write regex: and an expression, such as 'regex:([0-9.]+) img/s'");
  }
  try {
    return std::regex(text.substr(prefix.size()), syntax);
  } catch (const std::regex_error&) {
    refuse(text,
           "the part behind regex: is no ECMAScript regular expression, or has a back-reference");
  }
}

/// The whole number of which the group caught a part: in "1,234.5 img/s" the expression
/// ([0-9.]+) img/s catches only 234.5.
std::string whole_number(const std::string& line, const std::smatch& match) {
  static const std::regex number(
      R"((?:[0-9]{1,3}(?:[,'][0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)");
  auto begin = match[1].first, end = match[1].second;
  const bool may_begin_before = begin == match[0].first, may_end_behind = end == match[0].second;
  for (std::sregex_iterator each(line.begin(), line.end(), number), none; each != none; ++each) {
    const auto& whole = (*each)[0];
    if (whole.second <= match[1].first || whole.first >= match[1].second) continue;
    if (may_begin_before) begin = std::min(begin, whole.first);
    if (may_end_behind) end = std::max(end, whole.second);
  }
  return {begin, end};
}

}  // namespace

RateExpression::RateExpression(const std::string& text) : text_(text), expression_(compiled(text)) {
  if (expression_.mark_count() == 1) return;
  refuse(text, expression_.mark_count() == 0
                   ? "it needs a group around the rate, such as 'regex:([0-9.]+) img/s'"
                   : "it has several groups, so write (?:...) for those that don't hold the rate");
}

std::optional<std::string> RateExpression::caught_in(const std::string& line) const {
  std::smatch match;
  if (!std::regex_search(line, match, expression_)) return std::nullopt;
  return whole_number(line, match);
}

}  // namespace feedrate
