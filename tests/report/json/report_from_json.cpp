// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/json/report_from_json.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "example_report.hpp"
#include "feedrate/report/json/json.hpp"
#include "feedrate/report/json/read_report.hpp"
#include "feedrate/report/screen/screen.hpp"

namespace feedrate::report_from_json_tests {
namespace {

Json document_of(const Report& report) {
  return parse_json(json_text(to_json(report)));
}

/// What of `json` is lost or changed in `again`; keys that are new there are none of it.
std::vector<std::string> changes(const Json& json, const Json& again) {
  std::vector<std::string> found;
  for (const Json& step : Json::diff(json, again)) {
    if (step["op"] != "add") found.push_back(step.dump());
  }
  return found;
}

std::vector<std::string> committed_reports() {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(FEEDRATE_TEST_DATA "/../../results")) {
    const std::string path = entry.path().string();
    std::vector<std::uint8_t> buffer;
    if (!path.ends_with(".json")) continue;
    const auto bytes = read_file(path, buffer);
    const Json json = Json::parse(bytes.begin(), bytes.end());
    if (json.is_object() && json.contains("schema_version")) paths.push_back(path);
  }
  return paths;
}

TEST_CASE("Each committed report is read, and written again as it was", "[report_from_json]") {
  // Bug: a key that the writer has and the reader forgets, or a sentence in the words of today.
  const std::vector<std::string> paths = committed_reports();
  CHECK(paths.size() >= 5);
  for (const std::string& path : paths) {
    INFO(path);
    const ReadReport read = read_report(path);
    CHECK(changes(read.json, document_of(read.report)) == std::vector<std::string>{});
  }
}

/// Reports in which something is rare.
std::vector<Report> rare_reports() {
  std::vector<Report> reports = {testing::example_report(), testing::full_report()};
  Report none = testing::example_report();
  none.outcome.tiers.clear();
  none.outcome.race_end.reset();
  none.outcome.diagnoses.clear();
  none.outcome.interrupted = true;
  reports.push_back(none);
  Report offer = testing::full_report();
  offer.outcome.headline = Tier::safe;
  offer.outcome.tiers[0].promising = 3;
  offer.outcome.tiers[0].promise = {1.2, 0.9, 1.5};
  offer.reference_given = true;
  offer.requirements = {{"fed >= 0.9", "fed", Interval{0.95, 0.94, 0.96}, Fulfilment::met, ""},
                        {"busy >= 1", "busy", {}, Fulfilment::not_met, "Not measured."}};
  reports.push_back(offer);
  Report script = testing::example_report();
  script.workload.kind = "command";
  script.workload.rate_source = "hook";
  script.workload.script.emplace().loader = {1, "train", "DataLoader", "train.py", 23, "it trains"};
  script.workload.script->other_loader = "other";
  script.workload.script->other_share = 0.5;
  script.confirmation = Confirmation{.config = script.outcome.trials[1].config,
                                     .speedup = {1.5, 1.4, 1.6},
                                     .pairs = 4,
                                     .as_is_samples_per_s = 1000,
                                     .recommended_samples_per_s = 1500};
  script.touched_files = {"a b.txt"};
  script.notes = {"A note."};
  script.warnings = {"A warning."};
  reports.push_back(script);
  script.confirmation =
      Confirmation{.config = script.outcome.trials[1].config, .failure = "It crashed."};
  reports.push_back(script);
  return reports;
}

TEST_CASE("A report that is read gives the document and the screens of its run",
          "[report_from_json]") {
  // Bug: `show` prints another screen than the run did.
  for (const Report& report : rare_reports()) {
    const Json json = document_of(report);
    const Report read = report_from_json(json);
    CHECK(Json::diff(json, document_of(read)) == Json::array());
    for (const bool verbose : {false, true}) {
      CHECK(screen_text(read, {.verbose = verbose}) == screen_text(report, {.verbose = verbose}));
    }
  }
}

TEST_CASE("A report of the first schema is read", "[report_from_json]") {
  // Bug: old results that nobody can look at any more.
  Json json = document_of(testing::example_report());
  json["schema_version"] = 1;
  for (const char* key : {"search", "probes", "disturbed", "demands", "pareto", "what_if",
                          "emulation", "confirmation", "touched_files", "notes", "warnings"}) {
    json.erase(key);
  }
  json["space"].erase("constraints");
  for (Json& trial : json["trials"]) {
    for (const char* key : {"graph", "preprocess", "accumulate", "run_length"}) {
      trial["config"].erase(key);
    }
    trial.erase("stderr_tail");
    trial["bound_samples_per_s"] = 3000;
  }
  json["recommendation"].erase("tier");
  for (const char* key : {"open_gain", "caveats", "promising", "promise"}) {
    json["recommendation"]["tiers"]["safe"].erase(key);
  }
  for (const char* key : {"summary", "numbers", "where"}) json["diagnoses"][0].erase(key);
  json["trials"][2]["status"] = "hopeless";
  const Report report = report_from_json(json);
  CHECK(report.outcome.trials[2].status == TrialStatus::predicted);
  CHECK(report.outcome.choice().trial == 1);
  CHECK(report.sentences.causes[0].evidence() == json["diagnoses"][0]["evidence"]);
}

/// Where reading fails, and why.
std::string fault_of(const Json& json) {
  try {
    report_from_json(json);
  } catch (const detail::Misread& error) {
    return error.place + ": " + error.problem;
  }
  return "";
}

TEST_CASE("What does not belong into a report is told with its place", "[report_from_json]") {
  // Bug: a crash on a hand-edited file, or an error that does not say where it is.
  const Json good = document_of(testing::full_report());
  const auto fault = [&](const char* place, const Json& value) {
    Json json = good;
    json[Json::json_pointer(place)] = value;
    return fault_of(json);
  };
  CHECK(fault("/trials/1/rounds/2/wait_s", "long") ==
        "trials.1.rounds.2.wait_s: type must be number, but is string");
  CHECK(fault("/trials/1/rounds/0/batches", 1e300) ==
        "trials.1.rounds.0.batches: 1e+300 is out of range");
  CHECK(fault("/trials/1/rounds/0/samples", -1) == "trials.1.rounds.0.samples: -1 is out of range");
  CHECK(fault("/trials/1/config/precision", "fp8") ==
        "trials.1.config.precision: 'fp8' is not known here");
  CHECK(fault("/trials/0/status", "lost") == "trials.0.status: 'lost' is not known here");
  CHECK(fault("/recommendation/tiers/safe/trial", 99) ==
        "recommendation.tiers: there is no measured trial 99");
  CHECK(fault("/recommendation/tiers/safe/trial", 4).ends_with("there is no measured trial 4"));
  CHECK(fault("/recommendation/tiers", Json::object()) == "recommendation.tiers: no tier is there");
  CHECK(fault("/pareto/0/trial", 99) == "pareto: there is no measured trial 99");
  CHECK(fault("/reference/trial", 99) == "reference.trial: there is no trial 99");
  CHECK(fault("/trials", 3) == "trials: type must be array, but is number");
  CHECK(fault("/diagnoses/0/cause", nullptr) ==
        "diagnoses.0.cause: type must be string, but is null");
  Json cut = good;
  cut["trials"][0]["rounds"][0].erase("wait_s");
  CHECK(fault_of(cut) == "trials.0.rounds.0: the key 'wait_s' is missing");
  CHECK(fault_of(Json::array()) == ": type must be object, but is array");
}

TEST_CASE("A report survives any value in any place", "[report_from_json]") {
  // Bug: an exception that is none of ours, or an endless loop, on a hand-edited file.
  const Json good = document_of(testing::full_report());
  const Json flat = good.flatten();
  for (const auto& [place, old] : flat.items()) {
    for (const Json& value : {Json(nullptr), Json("x"), Json(-7), Json(1e300), Json(Json::array()),
                              Json(Json::object()), Json(true)}) {
      Json json = good;
      json[Json::json_pointer(place)] = value;
      INFO(place << " = " << value);
      try {
        const Report report = report_from_json(json);
        CHECK_FALSE(screen_text(report, {.verbose = true}).empty());
      } catch (const detail::Misread& error) {
        CHECK_FALSE(error.problem.empty());
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::report_from_json_tests
