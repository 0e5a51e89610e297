// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/comparison/comparison.hpp"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "example_report.hpp"
#include "feedrate/report/comparison/comparison_json.hpp"
#include "feedrate/report/comparison/comparison_text.hpp"

namespace feedrate::comparison_tests {
namespace {

using Catch::Approx;

/// A node whose recommended config makes `factor` times 2000 samples/s.
NamedReport node(const std::string& file, double factor) {
  NamedReport one{file, Report::schema_version, testing::example_report()};
  one.report.machine.fingerprint = file;
  for (Round& round : one.report.outcome.trials[1].rounds) {
    round.samples = static_cast<std::uint64_t>(static_cast<double>(round.samples) * factor);
  }
  return one;
}

std::vector<NamedReport> nodes() {
  return {node("a", 1), node("b", 1.01), node("c", 0.99), node("d", 0.7), node("e", 1.02)};
}

TEST_CASE("The ratio of two reports is that of their recommended rates", "[comparison]") {
  // Bug: the ratio upside down, or of the references.
  const ReportComparison comparison = comparison_of({node("a", 1), node("b", 1.5)});
  REQUIRE(comparison.ratio);
  CHECK(comparison.ratio->estimate == Approx(1.5).epsilon(0.01));
  CHECK(comparison.ratio->low < 1.5);
  CHECK(comparison.ratio->high > 1.5);
  CHECK(comparison.rankings.empty());
}

TEST_CASE("The slow node of five is the only outlier, and stands first", "[comparison]") {
  // Bug: a slow node that a fleet's owner is not told of.
  const ReportComparison comparison = comparison_of(nodes());
  CHECK_FALSE(comparison.ratio);
  REQUIRE(!comparison.rankings.empty());
  const Ranking& rates = comparison.rankings[0];
  CHECK(rates.measure.name == "samples_per_s");
  CHECK(rates.deviations[0].report == 3);
  CHECK(std::count_if(rates.deviations.begin(), rates.deviations.end(),
                      [](const Deviation& one) { return one.outlier; }) == 1);
  const auto sentences = result_sentences(comparison);
  CHECK(std::all_of(sentences.begin(), sentences.end(),
                    [](const std::string& one) { return one.starts_with("d: "); }));
  CHECK(sentences[0].find("30 % below the median") != std::string::npos);
}

TEST_CASE("What was measured differently is shown and not ranked", "[comparison]") {
  // Bug: a cold run called slower than a warm one.
  const auto keys_of = [](auto change) {
    std::vector<NamedReport> reports = nodes();
    change(reports[2]);
    const ReportComparison comparison = comparison_of(std::move(reports));
    CHECK(comparison.rankings.empty());
    CHECK(comparison_text(comparison).find("Not ranked, because") != std::string::npos);
    std::string keys;
    for (const Difference& one : comparison.differences) keys += std::string(one.key) + " ";
    return keys;
  };
  CHECK(keys_of([](NamedReport& r) { r.report.workload.cache = CacheMode::cold; }) == "cache ");
  CHECK(keys_of([](NamedReport& r) { r.report.workload.name = "tabular"; }) == "workload ");
  CHECK(keys_of([](NamedReport& r) { r.report.workload.samples = 9; }) == "data ");
  CHECK(keys_of([](NamedReport& r) { r.report.workload.model = "another"; }) == "model ");
  CHECK(keys_of([](NamedReport& r) { r.report.device = "emulated:h100/unet3d"; }) == "device ");
  CHECK(keys_of([](NamedReport& r) { r.report.workload.rate_source = "hook"; }) == "rate_source ");
  CHECK(keys_of([](NamedReport& r) { r.schema_version = 1; }) == "schema_version ");
}

TEST_CASE("GPUs of one model are one device, whatever their number", "[comparison]") {
  // Bug: a fleet of equal nodes refused, since one trained on its second GPU.
  std::vector<NamedReport> reports = nodes();
  for (NamedReport& one : reports) {
    one.report.machine.gpus.list.resize(2);
    one.report.machine.gpus.list[0].name = one.report.machine.gpus.list[1].name = "NVIDIA H200";
    one.report.device = "cuda:0";
  }
  reports[1].report.device = "cuda:1";
  CHECK(comparison_of(reports).differences.empty());
  reports[1].report.machine.gpus.list[1].name = "NVIDIA H100";
  CHECK(comparison_of(reports).differences.at(0).values.at(1) == "NVIDIA H100");
  // Bug: scripts on two models, which are both "cuda".
  for (NamedReport& one : reports) {
    one.report.device = "cuda";
    one.report.workload.script.emplace().gpu = "NVIDIA H200";
  }
  CHECK(comparison_of(reports).differences.empty());
  reports[1].report.workload.script->gpu = "NVIDIA A100";
  CHECK(comparison_of(reports).differences.at(0).values.at(1) == "NVIDIA A100");
}

TEST_CASE("Two runs on one machine are never compared without a word on drift", "[comparison]") {
  // Bug: a change that is blamed, or praised, for what the machine did on another day.
  std::vector<NamedReport> reports = {node("a", 1), node("b", 0.8)};
  const auto says_drift = [](const ReportComparison& comparison) {
    return comparison_text(comparison).find("drift is not excluded") != std::string::npos;
  };
  CHECK_FALSE(says_drift(comparison_of(reports)));
  reports[1].report.machine.fingerprint = reports[0].report.machine.fingerprint;
  CHECK(says_drift(comparison_of(reports)));
}

/// The longest line, in columns.
std::size_t widest(const std::string& text) {
  std::istringstream lines(text);
  std::size_t most = 0;
  for (std::string line; std::getline(lines, line);) most = std::max(most, columns_of(line));
  return most;
}

TEST_CASE("The text is no wider than the terminal", "[comparison]") {
  // Bug: a table that falls apart on a narrow terminal, by a long name above all.
  std::vector<NamedReport> reports = nodes();
  reports[0].file = "results/of/a/very/long/path/in/some/folder/\xc3\xa4\xc3\xb6\xc3\xbc.json";
  reports[1].file = "bad\xff\n\x1b[31mname.json";
  for (const std::size_t width : {40u, 60u, 79u, 80u, 120u}) {
    std::vector<NamedReport> different = reports;
    different[3].report.workload.cache = CacheMode::cold;
    CHECK(widest(comparison_text(comparison_of(reports), width)) <= width);
    CHECK(widest(comparison_text(comparison_of(different), width)) <= width);
  }
  CHECK(comparison_text(comparison_of(reports)).find('\x1b') == std::string::npos);
  CHECK(detail::shortened("a/b/c.json", 8) == "....json");
  CHECK(detail::shortened("\xc3\xa4\xc3\xb6\xc3\xbc", 3) == "\xc3\xa4\xc3\xb6\xc3\xbc");
}

TEST_CASE("A report without a recommendation is shown with dashes, and said", "[comparison]") {
  // Bug: a crash on the report of a run that was interrupted early.
  std::vector<NamedReport> reports = nodes();
  reports[0].report.outcome.tiers.clear();
  reports[0].report.outcome.interrupted = true;
  const ReportComparison comparison = comparison_of(reports);
  CHECK(comparison.rankings.at(0).deviations.size() == 4);
  CHECK(comparison_notes(comparison).at(1) == "a: nothing was measured.");
  CHECK(to_json(comparison)["reports"][0]["samples_per_s"].is_null());
  CHECK_FALSE(comparison_of({reports[0], reports[1]}).ratio);
}

TEST_CASE("The JSON of a comparison says what its text says", "[comparison]") {
  // Bug: a program that reads another verdict than its user.
  const ReportComparison comparison = comparison_of(nodes());
  const Json json = to_json(comparison);
  CHECK(json["reports"].size() == 5);
  CHECK(json["rankings"][0]["reports"][0]["report"] == 3);
  CHECK(json["rankings"][0]["reports"][0]["outlier"] == true);
  CHECK(json["not_ranked"].is_null());
  const std::string text = comparison_text(comparison, 1000);
  for (const Json& line : json["results"]) {
    CHECK(text.find(line.get<std::string>()) != std::string::npos);
  }
}

}  // namespace
}  // namespace feedrate::comparison_tests
