// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/gate/gate_text.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "gate/example_gate.hpp"

namespace feedrate::gate_text_tests {
namespace {

using testing::empty_gate;
using testing::example_gate;
using testing::example_metric;

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0, begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    longest = std::max(longest, columns_of(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return longest;
}

TEST_CASE("A slower metric is told with its size, its interval, its reason and the command") {
  // Bug: a red build that says neither what became slower, by how much, nor how to see it again.
  Gate gate = empty_gate();
  gate.metrics = {example_metric("samples_per_s", 0.12, Conclusion::slower)};
  const std::string text = gate_text(gate, 200);
  CHECK(text.find("SLOWER: 1 of 1 metric is slower") != text.npos);
  CHECK(text.find("samples_per_s: 8,800 samples/s, base 10,000 samples/s, speed -12 % (95 % "
                  "interval: -15 % to -9.0 %). The loader became slower.") != text.npos);
  CHECK(text.find("repeat: autotune ab --rate 'x (.*)' -- ./base -- ./head") != text.npos);
}

TEST_CASE("Each conclusion has its verdict, the worst first") {
  // Bug: a requirement that is not met shown as slower, or an open question shown as a pass.
  Gate gate = empty_gate();
  CHECK(verdict_of(gate) == "PASS: nothing was judged");
  gate.metrics = {example_metric("a", 0, Conclusion::pass)};
  CHECK(verdict_of(gate) == "PASS: no metric is more than 10 % slower");
  gate.requirements = {{"fed >= 0.9", "fed", Interval{1, 1, 1}, Fulfilment::met, ""}};
  CHECK(verdict_of(gate) == "PASS: no metric is more than 10 % slower, the requirement is met");
  gate.metrics.push_back(example_metric("b", 0.05, Conclusion::inconclusive));
  CHECK(verdict_of(gate) == "INCONCLUSIVE: 1 of 2 metrics is inconclusive");
  gate.requirements[0].fulfilment = Fulfilment::not_met;
  CHECK(verdict_of(gate) == "NOT MET: 1 of 1 requirement is not met");
  gate.metrics[0].conclusion = Conclusion::slower;
  CHECK(verdict_of(gate) == "SLOWER: 1 of 2 metrics is slower, 1 of 1 requirement is not met");
  gate = empty_gate();
  gate.overruled = Conclusion::not_comparable;
  CHECK(verdict_of(gate) == "NOT COMPARABLE");
}

TEST_CASE("A requirement is told with what was measured, or that nothing was") {
  // Bug: a requirement on what nobody measured, shown with the figure 0.
  const Gate gate = example_gate();
  CHECK(sentence_of(gate, gate.requirements[1]) ==
        "busy >= 0.90: busy is 0.700 (95 % interval: 0.680 to 0.720). Too low.");
  CHECK(sentence_of(gate, gate.requirements[2]).find("was not measured. Not measured.") !=
        std::string::npos);
}

TEST_CASE("Bounds that are not known are not shown as numbers") {
  // Bug: "inf" on the screen.
  constexpr double unknown = std::numeric_limits<double>::infinity();
  const auto text = [](double value) { return value_text(value, "s"); };
  CHECK(bounds_text({1, 0.5, unknown}, text) == "at least 500 ms");
  CHECK(bounds_text({1, -unknown, 2}, text) == "at most 2.00 s");
  CHECK(bounds_text({1, -unknown, unknown}, text).empty());
  CHECK(change_bounds_text({1, 0, unknown}).empty());
  CHECK(change_bounds_text({1, 0, 1.5}) == "at most +50 %");
}

TEST_CASE("The screen keeps to the width and to 24 lines, whatever the names hold") {
  // Bug: a name with escape sequences that repaints the terminal, or a hundred rows of passes that
  // push the verdict off the screen.
  Gate gate = example_gate();
  gate.tool.command_line = "autotune ab -- a -- b";
  for (const std::size_t width : {40, 80, 120}) {
    const std::string text = gate_text(gate, width);
    CAPTURE(text);
    CHECK(text.find('\x1b') == text.npos);
    CHECK(text.find('\0') == text.npos);
    CHECK(longest_line(text) <= std::max<std::size_t>(width, 50));
  }
  gate = empty_gate();
  for (int i = 0; i < 100; ++i) {
    gate.metrics.push_back(example_metric("bench/" + std::to_string(i), 0, Conclusion::pass));
  }
  gate.metrics[77].conclusion = Conclusion::slower;
  const std::string text = gate_text(gate, 80);
  CAPTURE(text);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 24);
  CHECK(text.find("bench/77") < text.find("bench/0 "));
  CHECK(text.find("and 92 more") != text.npos);
}

}  // namespace
}  // namespace feedrate::gate_text_tests
