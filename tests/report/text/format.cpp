// SPDX-License-Identifier: Apache-2.0
// Tests of report/text/format.hpp.
#include "feedrate/report/text/format.hpp"

#include <catch2/catch_test_macros.hpp>
#include <clocale>
#include <limits>

namespace feedrate::format_tests {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("digits are grouped by three before the point only") {
  // Bug: a separator before the first digit, after the sign, or in the decimals.
  CHECK(grouped("1") == "1");
  CHECK(grouped("999") == "999");
  CHECK(grouped("1000") == "1,000");
  CHECK(grouped("-100000") == "-100,000");
  CHECK(grouped("1234567.8901") == "1,234,567.8901");
  CHECK(format_count(18446744073709551615u) == "18,446,744,073,709,551,615");
}

TEST_CASE("a number keeps its significant digits and its whole integer part") {
  // Bug: significant digits that are lost, made up, or one too many after rounding up.
  CHECK(format_number(0) == "0");
  CHECK(format_number(0.012345) == "0.0123");
  CHECK(format_number(4.5678) == "4.57");
  CHECK(format_number(45.678) == "45.7");
  CHECK(format_number(456.78) == "457");
  CHECK(format_number(14642.4) == "14,642");
  CHECK(format_number(9.996) == "10.0");
  CHECK(format_number(99.96) == "100");
  CHECK(format_number(9.96, 2) == "10");
  CHECK(format_number(0.9996) == "1.00");
  CHECK(format_number(-4.5678) == "-4.57");
}

TEST_CASE("a value that is not a number is a dash") {
  // Bug: "inf" and "nan" in a table, and undefined behaviour when they are rounded.
  CHECK(format_number(infinity) == "-");
  CHECK(format_si(undefined, "B/s") == "-");
  CHECK(format_duration(infinity) == "-");
  CHECK(format_percent(undefined) == "-");
}

TEST_CASE("rates have decimal prefixes, chosen after rounding") {
  // Bug: "1000 MB/s" where "1.00 GB/s" is meant, and powers of two behind a decimal prefix.
  CHECK(format_si(0, "B/s") == "0 B/s");
  CHECK(format_si(0.5, "B/s") == "0.500 B/s");
  CHECK(format_si(67e6, "B/s", 2) == "67 MB/s");
  CHECK(format_si(1.9e9, "B/s", 2) == "1.9 GB/s");
  CHECK(format_si(118.2e9, "FLOP/s") == "118 GFLOP/s");
  CHECK(format_si(999.96e6, "B/s") == "1.00 GB/s");
  CHECK(format_si(999.4e6, "B/s") == "999 MB/s");
  CHECK(format_si(3.2e15, "FLOP/s") == "3,200 TFLOP/s");
}

TEST_CASE("sizes have binary prefixes") {
  // Bug: decimal sizes of memory under the name of binary ones.
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1) == "1 B");
  CHECK(format_bytes(1023) == "1,023 B");
  CHECK(format_bytes(1000) == "1,000 B");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_bytes(std::uint64_t{25} << 30) == "25.0 GiB");
  CHECK(format_bytes(UINT64_MAX) == "16,777,216 TiB");
}

TEST_CASE("durations have the unit in which people say them") {
  // Bug: 60 s in the seconds place, and a unit that is a thousand times off.
  CHECK(format_duration(0) == "0 s");
  CHECK(format_duration(3.4e-4) == "340 us");
  CHECK(format_duration(5e-9) == "5.00 ns");
  CHECK(format_duration(0.0125) == "12.5 ms");
  CHECK(format_duration(0.99999) == "1.00 s");
  CHECK(format_duration(59.96) == "60.0 s");
  CHECK(format_duration(125) == "2 min 5 s");
  CHECK(format_duration(119.9) == "2 min 0 s");
  CHECK(format_duration(3599.7) == "1 h 0 min");
  CHECK(format_duration(-0.5) == "-500 ms");
}

TEST_CASE("shares are in percent, small ones with a decimal") {
  // Bug: a share that is not multiplied, and 0.4 % shown as nothing.
  CHECK(format_percent(0.42) == "42 %");
  CHECK(format_percent(1) == "100 %");
  CHECK(format_percent(0) == "0 %");
  CHECK(format_percent(0.004) == "0.4 %");
  CHECK(format_percent(0.0999) == "10 %");
  CHECK(format_percent(-0.031) == "-3.1 %");
  CHECK(format_error(0.012) == "±1.2 %");
  CHECK(format_error(19079.09) == "±>99 %");
  CHECK(format_error(undefined).empty());
}

TEST_CASE("the locale changes nothing") {
  // Bug: a decimal comma in reports of programs that set a locale.
  const std::string old = std::setlocale(LC_ALL, nullptr);
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    found = found || std::setlocale(LC_ALL, name) != nullptr;
  }
  CHECK(format_number(4.5678) == "4.57");
  CHECK(format_number(14642.4) == "14,642");
  std::setlocale(LC_ALL, old.c_str());
}

TEST_CASE("columns are counted in code points") {
  // Bug: bytes counted as columns, which shifts the line after an accented letter.
  CHECK(columns_of("") == 0);
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("d\xC3\xA9j\xC3\xA0") == 4);
  CHECK(left_aligned("\xC3\xA9", 3) == "\xC3\xA9  ");
  CHECK(right_aligned("12", 5) == "   12");
  CHECK(right_aligned("too long", 3) == "too long");
}

TEST_CASE("text is broken at blanks, and a long word has a line of its own") {
  // Bug: a lost word, a line beyond the width, and an endless loop at a long word.
  using Lines = std::vector<std::string>;
  CHECK(wrapped("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrapped("one two three", 80) == Lines{"one two three"});
  CHECK(wrapped("a verylongword b", 5) == Lines{"a", "verylongword", "b"});
  CHECK(wrapped("", 5) == Lines{""});
  CHECK(wrapped("  a   b ", 5) == Lines{"a b"});
}

TEST_CASE("what follows a labelled line is indented") {
  // Bug: continuation lines that begin under the label.
  CHECK(labelled("gpu", "none at all", 6, 80) == "gpu   none at all\n");
  CHECK(labelled("gpu", "aaaaaaaaaaaa bbbbbbbbbbbb", 6, 20) ==
        "gpu   aaaaaaaaaaaa\n      bbbbbbbbbbbb\n");
}

}  // namespace feedrate::format_tests
