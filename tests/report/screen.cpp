// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/screen.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sstream>

#include "example_report.hpp"

namespace feedrate {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("The screen says why, how fast, what to set and what to do next", "[screen]") {
  // Bug: a part of the story that is missing.
  const std::string text = screen_text(testing::example_report());
  CHECK_THAT(text, ContainsSubstring("built-in workload, not yours"));
  CHECK_THAT(text, ContainsSubstring("WHY   The step waits 60 %"));
  CHECK_THAT(text, ContainsSubstring("decode 75 %, read 25 %"));
  CHECK_THAT(text, ContainsSubstring("safe changes"));
  CHECK_THAT(text, ContainsSubstring("2.00x"));
  CHECK_THAT(text, ContainsSubstring("SET   workers 2, prefetch 4"));
  CHECK_THAT(text, ContainsSubstring("pinned on: not applicable"));
  CHECK_THAT(text, ContainsSubstring("1 of 3 configs were not reached"));
  CHECK_THAT(text, ContainsSubstring("NEXT  autotune --data DIR"));
}

TEST_CASE("Lines keep within 40, 80 and 200 columns", "[screen]") {
  // Bug: lines that wrap, on a narrow terminal. Only words that can't be broken may be longer.
  for (const std::size_t width : {40u, 80u, 200u}) {
    std::istringstream lines(screen_text(testing::example_report(), {.width = width}));
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK((columns_of(line) <= width || line.find("samples/s") != std::string::npos ||
             line.find("x") != std::string::npos));
    }
  }
}

TEST_CASE("Without colours there is no escape byte, with them there is", "[screen]") {
  // Bug: escape sequences in a file or a pipe.
  const Report report = testing::example_report();
  CHECK(screen_text(report).find('\x1b') == std::string::npos);
  CHECK(screen_text(report, {.color = true}).find('\x1b') != std::string::npos);
}

TEST_CASE("No number of workers is named for PyTorch", "[settings]") {
  // Bug: figures for PyTorch that nobody measured.
  for (const Setting& setting : testing::example_report().settings) {
    if (setting.framework != "pytorch") continue;
    CHECK_THAT(setting.text, ContainsSubstring("num_workers=..."));
    CHECK_THAT(setting.measured_with, ContainsSubstring("not measured"));
  }
}

TEST_CASE("A report without results has a screen too", "[screen]") {
  // Bug: a crash on a report of a sweep that was interrupted at once.
  Report report = testing::example_report();
  report.outcome.tiers.clear();
  CHECK_THAT(screen_text(report), ContainsSubstring("No config was measured"));
}

}  // namespace
}  // namespace feedrate
