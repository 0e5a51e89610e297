// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/text/clean_text.hpp"

#include <catch2/catch_test_macros.hpp>

namespace feedrate::clean_text_tests {
namespace {

TEST_CASE("Text is one line of valid UTF-8, whatever the bytes") {
  // Bug: a benchmark's name that ends a line, an XML document, or a terminal's good behaviour.
  CHECK(clean_text("BM_Read/8 grün 数 😀") == "BM_Read/8 grün 数 😀");
  CHECK(clean_text("a\nb\tc\rd") == "a b c d");
  CHECK(clean_text(std::string_view("a\0b\x1b\x7f", 5)) == "a\uFFFDb\uFFFD\uFFFD");
  CHECK(clean_text("\xff|\xC3|\xE2\x82") == "\uFFFD|\uFFFD|\uFFFD\uFFFD");
}

TEST_CASE("On a terminal lines, tabs and colours stay, and nothing that it would obey") {
  // Bug: the name of a file that clears the screen, sets the title, or writes into the clipboard.
  CHECK(terminal_text("\x1b[1;31mred\x1b[0m\n\tgrün\n") == "\x1b[1;31mred\x1b[0m\n\tgrün\n");
  CHECK(terminal_text("a\x1b[2Jb") == "a\uFFFD[2Jb");
  CHECK(terminal_text("\x1b]0;title\x07.jpg") == "\uFFFD]0;title\uFFFD.jpg");
  CHECK(terminal_text("\rnew\xC2\x9Bm") == " new\uFFFDm");
  CHECK(terminal_text("\x1b[31") == "\uFFFD[31");
}

TEST_CASE("Bytes that only look like UTF-8 are replaced") {
  // Bug: an overlong slash, a surrogate, or a code point beyond the last: strict readers refuse the
  // whole document.
  CHECK(clean_text("\xC0\xAF") == "\uFFFD\uFFFD");
  CHECK(clean_text("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(clean_text("\xF4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
  CHECK(clean_text("\xC2\x85") == "\uFFFD");      // a control character
  CHECK(clean_text("\xEF\xBF\xBF") == "\uFFFD");  // no character of XML
}

}  // namespace
}  // namespace feedrate::clean_text_tests
