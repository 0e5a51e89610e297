// SPDX-License-Identifier: Apache-2.0
// What each document holds. That its readers take it is shown by tests/cli/formats.py.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "feedrate/core/named.hpp"
#include "feedrate/report/formats/formats.hpp"
#include "gate/example_gate.hpp"

namespace feedrate::documents_tests {
namespace {

using testing::empty_gate;
using testing::example_metric;

std::string written(const Gate& gate, const char* format, Undecided undecided = Undecided::exit_3) {
  return entry_named(formats, format, "format").write(gate, undecided);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

Gate gate_of_time() {
  Gate gate = empty_gate();
  GateMetric metric = example_metric("BM_Read", 0.2, Conclusion::slower);
  metric.unit = "us";
  metric.higher_is_better = false;
  metric.value = {12.5, 12, 13};
  metric.base = Interval{10, 9, 11};
  gate.metrics.push_back(metric);
  return gate;
}

TEST_CASE("A gate without metrics is a document of each format all the same") {
  // Bug: a crash, or an empty file, where a verb judged requirements alone.
  for (const Format& format : formats) {
    CAPTURE(format.name);
    CHECK_FALSE(format.write(empty_gate(), Undecided::exit_3).empty());
    CHECK_FALSE(format.write(Gate{}, Undecided::fail).empty());
  }
}

TEST_CASE("Times reach Google Benchmark and Bencher in nanoseconds") {
  // Bug: microseconds taken for seconds, or a time written as a rate.
  const Json benchmarks = Json::parse(written(gate_of_time(), "google-benchmark"))["benchmarks"];
  CHECK(benchmarks[0]["name"] == "base/BM_Read");
  CHECK(std::abs(benchmarks[0]["real_time"].get<double>() - 10'000) < 1e-6);
  CHECK(std::abs(benchmarks[1]["real_time"].get<double>() - 12'500) < 1e-6);
  CHECK_FALSE(benchmarks[1].contains("items_per_second"));
  const Json bencher = Json::parse(written(gate_of_time(), "bencher"));
  CHECK(std::abs(bencher["BM_Read"]["latency"]["upper_value"].get<double>() - 13'000) < 1e-6);
  CHECK(bencher["BM_Read"]["speed-ratio"]["value"] == 0.8);
}

TEST_CASE("What was not measured is in no list of numbers") {
  // Bug: compare.py or Bencher stopped by one null among the numbers.
  Gate gate = gate_of_time();
  gate.metrics[0].value.estimate = std::numeric_limits<double>::quiet_NaN();
  CHECK(count_of(written(gate, "google-benchmark"), "BM_Read\"") == 2);  // name, run_name of base
  CHECK(written(gate, "bencher").find("BM_Read") == std::string::npos);
  CHECK(written(gate, "openmetrics").find("nan") == std::string::npos);
}

TEST_CASE("A run that could not be compared is a test case that was skipped") {
  // Bug: a JUnit file without test cases, which reads as a success.
  Gate gate = empty_gate();
  gate.overruled = Conclusion::not_comparable;
  gate.notes = {"Other processes took the CPU."};
  const std::string text = written(gate, "junit");
  CHECK(text.find("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\"") != text.npos);
  CHECK(text.find("Other processes took the CPU.") != text.npos);
  CHECK(written(gate, "junit", Undecided::fail).find("failures=\"1\"") != text.npos);
}

TEST_CASE("An open question that counts as a pass is still told") {
  // Bug: --undecided pass hides what was not decided.
  Gate gate = empty_gate();
  gate.metrics = {example_metric("a", 0.05, Conclusion::inconclusive)};
  CHECK(written(gate, "junit", Undecided::pass).find("<skipped") != std::string::npos);
  CHECK(written(gate, "annotations", Undecided::pass).starts_with("::warning "));
}

TEST_CASE("Long lists end with how many more there are") {
  // Bug: GitHub drops the 11th annotation, and a summary of more than 1 MiB, without a word.
  Gate gate = empty_gate();
  for (int i = 0; i < 2000; ++i) {
    gate.metrics.push_back(example_metric("bench" + std::to_string(i), 0.2, Conclusion::slower));
  }
  const std::string annotations = written(gate, "annotations");
  CHECK(count_of(annotations, "::error ") == 10);
  CHECK(annotations.find("and 1%2C991 more") != annotations.npos);
  const std::string markdown = written(gate, "markdown");
  CHECK(markdown.size() < 200'000);
  CHECK(markdown.find("and 1,800 more metrics") != markdown.npos);
}

TEST_CASE("Bencher's names are cut between characters") {
  // Bug: half a character at the end of a long name.
  Gate gate = empty_gate();
  std::string name = "x";
  for (int i = 0; i < 1000; ++i) name += "ü";
  gate.metrics = {example_metric(name, 0, Conclusion::pass)};
  const Json bencher = Json::parse(written(gate, "bencher"));
  CHECK(bencher.begin().key() == name.substr(0, 1023));
}

}  // namespace
}  // namespace feedrate::documents_tests
