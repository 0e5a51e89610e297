// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/formats/escapes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>

namespace feedrate::escapes_tests {
namespace {

TEST_CASE("Numbers are short, and those that are not finite are empty") {
  // Bug: "inf" or "nan" where a reader expects a number, or 0.1 as 0.10000000000000001.
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(-1e300) == "-1e+300");
  CHECK(number_text(std::numeric_limits<double>::infinity()).empty());
  CHECK(number_text(std::numeric_limits<double>::quiet_NaN()).empty());
}

TEST_CASE("Each format escapes what ends its texts") {
  // Bug: a name that closes an attribute, a cell, a field, a label or a command.
  CHECK(xml_text("<a b='c' d=\"e\">&\x01") == "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\uFFFD");
  CHECK(markdown_text("a|b\\|*c*") == "a&#124;b\\\\&#124;\\*c\\*");
  CHECK(csv_text("plain") == "plain");
  CHECK(csv_text("a,b") == "\"a,b\"");
  CHECK(csv_text("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(csv_text("two\nlines") == "two lines");
  CHECK(label_text("a\"b\\c\nd") == "a\\\"b\\\\c d");
  CHECK(command_text("5 %: a, b\n") == "5 %25: a, b ");
  CHECK(property_text("5 %: a, b") == "5 %25%3A a%2C b");
}

}  // namespace
}  // namespace feedrate::escapes_tests
