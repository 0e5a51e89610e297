// SPDX-License-Identifier: Apache-2.0
#include "values/price.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "feedrate/core/error.hpp"

namespace feedrate::price_tests {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A price is an amount per hour, with a currency before or behind it", "[price]") {
  // Bug: "$3.50/h" refused, or a price without a currency that gets one.
  const Price plain = parse_price("--price", "3.50/h");
  CHECK(plain.per_hour == 3.5);
  CHECK(plain.currency.empty());
  CHECK(parse_price("--price", "3.50 EUR/h").currency == "EUR");
  CHECK(parse_price("--price", "$3.50/h").currency == "$");
  CHECK(parse_price("--price", " 2€/h ").currency == "€");
}

TEST_CASE("What is no price per hour is refused, with what to write", "[price]") {
  // Bug: "3.50" taken for a day's price, or a negative saving.
  for (const char* text : {"", "3.50", "3.50/day", "EUR/h", "-1/h", "0/h", "nan/h", "1e9/h",
                           "$3 EUR/h", "3.5.2/h", "3 much too long/h"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_price("--price", text), ContainsSubstring("3.50 EUR/h"));
  }
}

}  // namespace
}  // namespace feedrate::price_tests
