// SPDX-License-Identifier: Apache-2.0
#include "values/price.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "feedrate/core/error.hpp"
#include "feedrate/core/system_files.hpp"

namespace feedrate {
namespace {

constexpr double highest_price = 1e6;
constexpr std::size_t longest_currency = 8;

bool is_currency(std::string_view text) {
  const auto is_odd = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  return text.size() <= longest_currency &&
         text.find_first_of("0123456789./-") == std::string_view::npos &&
         std::none_of(text.begin(), text.end(), is_odd);
}

}  // namespace

Price parse_price(const char* flag, const std::string& text) {
  const auto refuse = [&] {
    throw Error(Fault::usage, std::string(flag) + " '" + text +
                                  "' is no price per hour: write it as 3.50/h or 3.50 EUR/h.");
  };
  std::string_view rest = trimmed(text);
  if (!rest.ends_with("/h")) refuse();
  rest.remove_suffix(2);
  const std::size_t digits = std::min(rest.find_first_of("0123456789."), rest.size());
  const std::string_view before = trimmed(rest.substr(0, digits));
  rest.remove_prefix(digits);
  Price price;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), price.per_hour);
  if (error != std::errc{} || !(price.per_hour > 0) || price.per_hour > highest_price) refuse();
  const std::string_view behind = trimmed(rest.substr(static_cast<std::size_t>(end - rest.data())));
  if (!is_currency(before) || !is_currency(behind) || (!before.empty() && !behind.empty()))
    refuse();
  price.currency = before.empty() ? behind : before;
  return price;
}

}  // namespace feedrate
