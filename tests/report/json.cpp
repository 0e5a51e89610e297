// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "example_report.hpp"

namespace feedrate {
namespace {

TEST_CASE("The report has the documented keys and the right figures", "[json]") {
  // Bug: a key that is renamed or lost, which would break everybody who reads reports.
  const Json json = Json::parse(json_text(to_json(testing::example_report())));
  CHECK(json["schema_version"] == 1);
  CHECK(json["trials"].size() == 3);
  CHECK(json["trials"][1]["config"]["workers"] == 2);
  CHECK(json["trials"][1]["config"]["precision"] == "fp32");
  CHECK(json["trials"][1]["rounds"].size() == 3);
  CHECK(json["trials"][0]["fed"].get<double>() < 0.3);
  CHECK(json["trials"][2]["status"] == "not_reached");
  CHECK(json["space"]["not_reached"].size() == 1);
  CHECK(json["space"]["not_applicable"][0]["axis"] == "pinned");
  CHECK(json["recommendation"]["status"] == "resolved");
  CHECK(json["recommendation"]["tiers"]["safe"]["speedup"]["estimate"] == 2.0);
  CHECK(json["recommendation"]["verified"]["low"] == 1.95);
  CHECK(json["reference"]["source"] == "framework_default");
}

TEST_CASE("Strange names and infinite figures still give valid JSON", "[json]") {
  // Bug: an exception, or a document that no parser reads, on a name that is not UTF-8 or a
  // figure that is not finite.
  Report report = testing::example_report();
  report.outcome.pairs[0].log_ratio.high = std::numeric_limits<double>::infinity();
  const Json json = Json::parse(json_text(to_json(report)));
  CHECK(json["race"]["pairs"][0]["log_ratio"]["high"].is_null());
  CHECK(json["skipped"][0]["sample"] == 17);
}

TEST_CASE("A report without a recommendation says null", "[json]") {
  // Bug: a partial report, written before anything is recommended, that can't be written at all.
  Report report = testing::example_report();
  report.outcome.tiers.clear();
  CHECK(to_json(report)["recommendation"].is_null());
}

}  // namespace
}  // namespace feedrate
