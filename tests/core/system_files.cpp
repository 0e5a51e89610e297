// SPDX-License-Identifier: Apache-2.0
// Tests of core/system_files.hpp.
#include "feedrate/core/system_files.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "../planted_tree.hpp"

namespace feedrate::system_files_tests {

TEST_CASE("a count is a whole decimal number and nothing else") {
  // Bug: "max", "-1", "12 kB" or an overflow that is read as some number.
  CHECK(parse_count("12") == 12u);
  CHECK(parse_count(" 12\n") == 12u);
  CHECK(parse_count("18446744073709551615") == UINT64_MAX);
  for (const char* text :
       {"", " ", "max", "-1", "+1", "12 kB", "0x10", "1.5", "18446744073709551616"}) {
    CHECK_FALSE(parse_count(text).has_value());
  }
}

TEST_CASE("splitting leaves out the empty pieces") {
  // Bug: an endless loop or an empty piece at separators that touch or end the text.
  CHECK(split("a  b ", ' ') == std::vector<std::string_view>{"a", "b"});
  CHECK(split("", ',').empty());
  CHECK(split(",,", ',').empty());
  CHECK(split("one", ',') == std::vector<std::string_view>{"one"});
}

TEST_CASE("what can't be read is absent, and an empty file is an empty text") {
  // Bug: a missing file, or a folder, that is read as an empty text.
  test::PlantedTree tree;
  tree.plant("/empty", "").plant("/long", std::string(10000, 'x'));
  CHECK_FALSE(read_text(tree.root() + "/none").has_value());
  CHECK_FALSE(read_text(tree.root()).has_value());
  CHECK(read_text(tree.root() + "/empty") == "");
  CHECK(read_text(tree.root() + "/long")->size() == 10000);
}

TEST_CASE("a value is what follows its key at the beginning of a line") {
  // Bug: a key found in the middle of a line, or of another key's value.
  const std::string text = "SwapTotal: 5 kB\nMemTotal:  \t12 kB\nMemTotal: 99 kB";
  CHECK(value_after(text, "MemTotal:") == "12 kB");
  CHECK(value_after(text, "Total:") == std::nullopt);
  CHECK(value_after("", "MemTotal:") == std::nullopt);
}

}  // namespace feedrate::system_files_tests
