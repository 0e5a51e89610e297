// SPDX-License-Identifier: Apache-2.0
#include "ab/benchmark_json.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/core/error.hpp"

namespace feedrate::benchmark_json_tests {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string document(const std::string& entries) {
  return R"({"context": {"num_cpus": 2}, "benchmarks": [)" + entries + "]}";
}

TEST_CASE("Repetitions are one metric, and their aggregates none", "[benchmark_json]") {
  // Bug: mean, median and deviation of a benchmark are compared as if they were benchmarks.
  const auto metrics = parse_benchmarks(
      document(
          R"({"name": "a/8", "run_name": "a/8", "run_type": "iteration", "real_time": 2.0, "time_unit": "us"},
             {"name": "a/8", "run_name": "a/8", "run_type": "iteration", "real_time": 8.0, "time_unit": "us"},
             {"name": "a/8_mean", "run_name": "a/8", "run_type": "aggregate", "real_time": 5.0, "time_unit": "us"},
             {"name": "b", "real_time": 3, "time_unit": "ms"})"),
      "bench");
  REQUIRE(metrics.size() == 2);
  CHECK(metrics[0].name == "a/8");
  CHECK(metrics[0].unit == "us");
  CHECK(metrics[0].value == Catch::Approx(4));  // the geometric mean
  CHECK_FALSE(metrics[0].higher_is_better);
  CHECK(metrics[0].speed() == Catch::Approx(0.25));
  CHECK(metrics[1].name == "b");
}

TEST_CASE("A benchmark that was skipped is left out", "[benchmark_json]") {
  // Bug: one that needs another processor keeps all the others from being compared.
  const std::string skipped = R"({"name": "avx512", "skipped": true, "skip_message": "no AVX-512",
                                  "real_time": 0.0, "time_unit": "ns"})";
  const auto metrics = parse_benchmarks(
      document(skipped + R"(, {"name": "a", "real_time": 3, "time_unit": "ms"})"), "bench");
  REQUIRE(metrics.size() == 1);
  CHECK(metrics[0].name == "a");
}

TEST_CASE("What can't be compared is refused with the reason", "[benchmark_json]") {
  // Bug: a benchmark that failed counts as a very fast one.
  const auto refused = [](const std::string& text, const std::string& why) {
    CHECK_THROWS_WITH(parse_benchmarks(text, "bench"), ContainsSubstring(why));
  };
  refused("", "ran no benchmark");
  refused(document(""), "ran no benchmark");
  refused(document(R"({"name": "a", "real_time": 1)").substr(0, 40), "only a part");
  refused("[]", "no JSON of Google Benchmark");
  refused(document(R"({"name": "a", "error_occurred": true, "error_message": "no file"})"),
          "benchmark 'a' failed: no file");
  refused(document(R"({"name": "a", "real_time": 0, "time_unit": "ns"})"), "no time");
  refused(document(R"({"name": "a_mean", "run_type": "aggregate", "real_time": 1})"),
          "leave out --benchmark_report_aggregates_only");
  refused(document(R"({"name": "a", "real_time": "NaN", "time_unit": "ns"})"), "no time");
  refused(document(R"({"name": "a", "real_time": 1, "time_unit": "ns"},
                      {"name": "a", "real_time": 1, "time_unit": "us"})"),
          "two units");
}

TEST_CASE("A program that writes no results is told what is expected", "[benchmark_json]") {
  // Bug: an old file of the run before is read again.
  CHECK_THROWS_WITH(read_benchmarks("/nonexistent/benchmark.json", "train"),
                    ContainsSubstring("'train' wrote no results"));
}

}  // namespace
}  // namespace feedrate::benchmark_json_tests
